// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arithmetic of generators, on matrices of single precision in row-major order.
//
// Each function is compiled twice, for any CPU and for those with AVX2 and fused multiplication,
// and the faster one is chosen when it is first asked for: the last digit depends on the CPU, and
// on nothing else. All of them run on the thread that calls them.

#include <cstddef>
#include <new>
#include <vector>

namespace tandem {

// Numbers that begin where a cache line does. Loops treat the numbers before the first such place
// one by one, with other rounding, so that what they give would depend on where memory was free.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* data, std::size_t /*count*/) { ::operator delete(data, kLine); }
  bool operator==(const AlignedAllocator& /*other*/) const { return true; }
};
using Floats = std::vector<float, AlignedAllocator<float>>;
using Doubles = std::vector<double, AlignedAllocator<double>>;

// Rows of `columns` numbers, each row `stride` numbers after the one before.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;

  // `count` columns from `first` on, or rows likewise.
  MatrixView some_columns(std::size_t first, std::size_t count) const {
    return {data + first, rows, count, stride};
  }
  MatrixView some_rows(std::size_t first, std::size_t count) const {
    return {data + first * stride, count, columns, stride};
  }
  operator MatrixView<const T>() const { return {data, rows, columns, stride}; }
};
using Matrix = MatrixView<float>;
using ConstMatrix = MatrixView<const float>;

struct FloatMath {
  // c = a b, or c += a b; with a or b transposed.
  void (*product)(ConstMatrix a, ConstMatrix b, Matrix c, bool add);
  void (*product_at)(ConstMatrix a, ConstMatrix b, Matrix c, bool add);  // c = a^T b
  void (*product_bt)(ConstMatrix a, ConstMatrix b, Matrix c, bool add);  // c = a b^T
  void (*product_at_bt)(ConstMatrix a, ConstMatrix b, Matrix c);         // c = a^T b^T
  void (*product_at_double)(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> c, bool add);

  // Here a matrix has a row for each code and a column for each row that a generator makes, so that
  // every loop runs along many of those.
  void (*add_to_rows)(Matrix x, const float* numbers);   // to each row its number
  void (*sums_of_rows)(ConstMatrix x, float* numbers);   // sets the sum of each row
  void (*softmax)(Matrix x);                             // of each column, in place
  void (*softmax_back)(ConstMatrix p, Matrix gradient);  // of p to that of its logits, in place
  // Row u * n + x of out is row u of left times row x of right, for right of n rows.
  void (*row_products)(ConstMatrix left, ConstMatrix right, Matrix out);
  // Adds to the gradients of left and right what follows from that of their row products.
  void (*row_products_back)(ConstMatrix left, ConstMatrix right, ConstMatrix gradient,
                            Matrix left_gradient, Matrix right_gradient);

  // Batch normalisation of each column, then max(0, .). `x` becomes the normalised values and
  // `inverse` one over each column's standard deviation, which the way back needs.
  void (*normalise)(Matrix x, const float* scale, const float* shift, float* inverse, Matrix out);
  // From the gradient of `out` to that of what `x` was before, in place of x; sets those of scale
  // and shift.
  void (*normalise_back)(Matrix x, const float* scale, const float* shift, const float* inverse,
                         ConstMatrix gradient, float* scale_gradient, float* shift_gradient);

  // One step of Adam: `rate` has the bias correction of both moments in it.
  void (*adam)(std::size_t count, float rate, const float* gradient, float* first, float* second,
               float* parameters);
};

const FloatMath& float_math();

}  // namespace tandem
