// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

constexpr std::size_t kRowsOfTask = 256;    // of a matrix product
constexpr std::size_t kColumnsOfTask = 64;  // that are normalised together

std::size_t tasks_of(std::size_t count, std::size_t each) { return (count + each - 1) / each; }

// Matrix products in fixed pieces of the result's rows.
template <class Multiply>
void in_pieces(Team& team, Matrix c, const Multiply& multiply) {
  team.run(tasks_of(c.rows, kRowsOfTask), [&](std::size_t task) {
    const std::size_t from = task * kRowsOfTask;
    multiply(from, std::min(kRowsOfTask, c.rows - from));
  });
}

void product(Team& team, ConstMatrix a, ConstMatrix b, Matrix c) {
  in_pieces(team, c, [&](std::size_t from, std::size_t count) {
    float_math().product(a.some_rows(from, count), b, c.some_rows(from, count), false);
  });
}
void product_at(Team& team, ConstMatrix a, ConstMatrix b, Matrix c) {
  in_pieces(team, c, [&](std::size_t from, std::size_t count) {
    float_math().product_at(a.some_columns(from, count), b, c.some_rows(from, count), false);
  });
}
void product_bt(Team& team, ConstMatrix a, ConstMatrix b, Matrix c, bool add) {
  in_pieces(team, c, [&](std::size_t from, std::size_t count) {
    float_math().product_bt(a.some_rows(from, count), b, c.some_rows(from, count), add);
  });
}

// The inputs of a block are the first columns of one matrix of activations, z and the outputs of
// the blocks before it; its outputs come after them.
class Network final : public Generator {
 public:
  Network(const NetworkShape& shape, Rng& rng)
      : shape_(shape), parameters_(shape.parameters()), width_(shape.inputs) {
    std::size_t at = 0;
    for (const std::size_t outputs : shape_.hidden) {
      blocks_.push_back({width_, outputs, at, {}, {}});
      draw(at, width_ * outputs, width_, rng);
      at += width_ * outputs;
      std::fill_n(parameters_.begin() + static_cast<std::ptrdiff_t>(at), outputs, 1.0F);  // scale
      at += 2 * outputs;  // and shift, 0
      blocks_.back().normalised.resize(shape_.rows * outputs);
      blocks_.back().inverse.resize(outputs);
      width_ += outputs;
    }
    last_ = at;
    draw(at, width_ * shape_.codes, width_, rng);
    at += width_ * shape_.codes;
    draw(at, shape_.codes, width_, rng);
    check(at + shape_.codes == parameters_.size(), "a network has all its parameters");
    values_.resize(shape_.rows * width_);
    of_values_.resize(shape_.rows * width_);
    const auto z = normal_numbers(shape_.rows * shape_.inputs, 1.0F, rng);
    for (std::size_t r = 0; r < shape_.rows; ++r) {
      std::copy_n(z.begin() + static_cast<std::ptrdiff_t>(r * shape_.inputs), shape_.inputs,
                  values_.begin() + static_cast<std::ptrdiff_t>(r * width_));
    }
  }

  std::span<float> parameters() override { return parameters_; }

  void forward(Matrix logits, Team& team) override {
    for (auto& block : blocks_) {
      const Matrix x{block.normalised.data(), shape_.rows, block.outputs, block.outputs};
      product(team, values().some_columns(0, block.inputs), weights(parameters_, block), x);
      const float* scale = parameters_.data() + block.at + block.inputs * block.outputs;
      const Matrix out = values().some_columns(block.inputs, block.outputs);
      by_columns(team, block.outputs, [&](std::size_t from, std::size_t count) {
        float_math().normalise(x.some_columns(from, count), scale + from,
                               scale + block.outputs + from, block.inverse.data() + from,
                               out.some_columns(from, count));
      });
    }
    const float* shift = parameters_.data() + last_ + width_ * shape_.codes;
    in_pieces(team, values(), [&](std::size_t from, std::size_t count) {
      const Matrix some = logits.some_columns(from, count);
      float_math().product_at_bt(last_weights(parameters_), values().some_rows(from, count), some);
      float_math().add_to_rows(some, shift);
    });
  }

  void back(ConstMatrix of_logits, std::span<float> of_parameters, Team& team) override {
    const Matrix of_last = last_weights(of_parameters);
    in_pieces(team, of_last, [&](std::size_t from, std::size_t count) {
      float_math().product_at_bt(values().some_columns(from, count), of_logits,
                                 of_last.some_rows(from, count));
    });
    float_math().sums_of_rows(of_logits, of_parameters.data() + last_ + width_ * shape_.codes);
    const Matrix of_values{of_values_.data(), shape_.rows, width_, width_};
    in_pieces(team, of_values, [&](std::size_t from, std::size_t count) {
      float_math().product_at_bt(of_logits.some_columns(from, count), last_weights(parameters_),
                                 of_values.some_rows(from, count));
    });
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      const Matrix x{block->normalised.data(), shape_.rows, block->outputs, block->outputs};
      const std::size_t at = block->at + block->inputs * block->outputs;
      const float* scale = parameters_.data() + at;
      float* of_scale = of_parameters.data() + at;
      by_columns(team, block->outputs, [&](std::size_t from, std::size_t count) {
        float_math().normalise_back(x.some_columns(from, count), scale + from,
                                    scale + block->outputs + from, block->inverse.data() + from,
                                    of_values.some_columns(block->inputs + from, count),
                                    of_scale + from, of_scale + block->outputs + from);
      });
      product_at(team, values().some_columns(0, block->inputs), x, weights(of_parameters, *block));
      // Nothing depends on the gradient of z.
      const std::size_t z = shape_.inputs;
      if (block->inputs == z) continue;
      const Matrix mine = weights(parameters_, *block);
      product_bt(team, x, mine.some_rows(z, block->inputs - z),
                 of_values.some_columns(z, block->inputs - z), true);
    }
  }

 private:
  struct Block {
    std::size_t inputs, outputs;
    std::size_t at;     // its parameters: weights, scale, shift
    Floats normalised;  // K x outputs
    Floats inverse;
  };

  Matrix values() { return {values_.data(), shape_.rows, width_, width_}; }
  static Matrix weights(std::span<float> parameters, const Block& block) {
    return {parameters.data() + block.at, block.inputs, block.outputs, block.outputs};
  }
  Matrix last_weights(std::span<float> parameters) const {
    return {parameters.data() + last_, width_, shape_.codes, shape_.codes};
  }

  template <class Work>
  static void by_columns(Team& team, std::size_t columns, const Work& work) {
    team.run(tasks_of(columns, kColumnsOfTask), [&](std::size_t task) {
      const std::size_t from = task * kColumnsOfTask;
      work(from, std::min(kColumnsOfTask, columns - from));
    });
  }

  // Evenly between -1 and 1 over the root of the inputs.
  void draw(std::size_t at, std::size_t count, std::size_t inputs, Rng& rng) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(inputs));
    for (std::size_t i = at; i < at + count; ++i) {
      parameters_[i] = static_cast<float>(bound * (2.0 * rng.uniform() - 1.0));
    }
  }

  NetworkShape shape_;
  Floats parameters_;
  std::vector<Block> blocks_;
  std::size_t width_;     // of all activations
  std::size_t last_ = 0;  // where the parameters of the last map begin: weights, shift
  Floats values_, of_values_;
};

class Rows final : public Generator {
 public:
  explicit Rows(Floats logits) : parameters_(std::move(logits)) {}
  std::span<float> parameters() override { return parameters_; }
  void forward(Matrix logits, Team& /*team*/) override {
    for (std::size_t c = 0; c < logits.rows; ++c) {
      std::copy_n(parameters_.data() + c * logits.columns, logits.columns,
                  logits.data + c * logits.stride);
    }
  }
  void back(ConstMatrix of_logits, std::span<float> of_parameters, Team& /*team*/) override {
    for (std::size_t c = 0; c < of_logits.rows; ++c) {
      std::copy_n(of_logits.data + c * of_logits.stride, of_logits.columns,
                  of_parameters.data() + c * of_logits.columns);
    }
  }

 private:
  Floats parameters_;
};

}  // namespace

std::size_t NetworkShape::parameters() const {
  std::size_t width = inputs;
  std::size_t out = 0;
  for (const std::size_t outputs : hidden) {
    out += (width + 2) * outputs;
    width += outputs;
  }
  return out + (width + 1) * codes;
}

double NetworkShape::bytes() const {
  double width = static_cast<double>(inputs);
  double normalised = 0.0;
  for (const std::size_t outputs : hidden) normalised += static_cast<double>(outputs);
  width += normalised;
  return sizeof(float) * (static_cast<double>(rows) * (2.0 * width + normalised) +
                          static_cast<double>(parameters()));
}

double NetworkShape::multiplications() const {
  return 3.0 * static_cast<double>(rows) * static_cast<double>(parameters());
}

Floats normal_numbers(std::size_t count, float deviation, Rng& rng) {
  Floats out(count);
  for (float& value : out) {  // Box and Muller 1958
    const double radius = std::sqrt(-2.0 * std::log1p(-rng.uniform()));
    value =
        deviation * static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * rng.uniform()));
  }
  return out;
}

std::unique_ptr<Generator> network_generator(const NetworkShape& shape, Rng& rng) {
  return std::make_unique<Network>(shape, rng);
}

std::unique_ptr<Generator> rows_generator(Floats logits) {
  return std::make_unique<Rows>(std::move(logits));
}

}  // namespace tandem
