// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the rows of a generator come from: parameters that make the logits of K rows, one for each
// code of each column, and the way back from a gradient of those to one of the parameters. Logits
// are a matrix with a row for each code and K columns.
//
//   network  fixed normal noise z through residual blocks: linear, batch normalisation, max(0, .),
//            each joined with its input; at the end a linear map.
//            Liu, Vietri, Wu. Iterative Methods for Private Synthetic Data. 2021, section 4.
//   rows     the logits themselves. Aydore et al. Differentially Private Query Release Through
//            Adaptive Projection. 2021, with softmax.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/base/team.h"
#include "tandem/model/generator/float_math.h"

namespace tandem {

class Generator {
 public:
  virtual ~Generator() = default;
  virtual std::span<float> parameters() = 0;
  virtual void forward(Matrix logits, Team& team) = 0;
  // After forward(): the gradient of every parameter.
  virtual void back(ConstMatrix of_logits, std::span<float> of_parameters, Team& team) = 0;
};

struct NetworkShape {
  std::size_t rows = 0;    // K
  std::size_t inputs = 0;  // columns of z
  std::vector<std::size_t> hidden;
  std::size_t codes = 0;  // of all columns together
  std::size_t parameters() const;
  double bytes() const;            // of a generator and of its way back
  double multiplications() const;  // of one step forward and back
};

std::unique_ptr<Generator> network_generator(const NetworkShape& shape, Rng& rng);

// Logits that start as given, code after code.
std::unique_ptr<Generator> rows_generator(Floats logits);

// Independent normal numbers.
Floats normal_numbers(std::size_t count, float deviation, Rng& rng);

}  // namespace tandem
