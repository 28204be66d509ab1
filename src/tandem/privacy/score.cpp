// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/score.h"

#include <utility>

namespace tandem {

Score operator+(Score a, const Score& b) {
  a.terms_.insert(a.terms_.end(), b.terms_.begin(), b.terms_.end());
  a.constant_ += b.constant_;
  return a;
}

Score operator*(double factor, Score score) {
  for (auto& term : score.terms_) term.weight *= factor;
  score.constant_ *= factor;
  return score;
}

namespace {

Score error(Score::Shape shape, Factor reference, std::vector<std::size_t> cells) {
  return Score(Score::Term{.shape = shape,
                           .weight = 1.0,
                           .reference = std::make_shared<const Factor>(std::move(reference)),
                           .cells = std::move(cells)});
}

}  // namespace

Score l1_error(Factor reference) { return error(Score::Shape::L1Error, std::move(reference), {}); }

Score largest_error(Factor reference, std::vector<std::size_t> cells) {
  return error(Score::Shape::LargestError, std::move(reference), std::move(cells));
}

Score absolute_error(Factor reference, std::size_t cell) {
  return error(Score::Shape::AbsoluteError, std::move(reference), {cell});
}

Score signed_error(Factor reference, std::size_t cell) {
  return error(Score::Shape::SignedError, std::move(reference), {cell});
}

}  // namespace tandem
