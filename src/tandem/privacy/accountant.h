// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where epsilon, delta, rho and the scales of noise meet.
//
// Every conversion is rounded outward: what is promised (epsilon, delta, rho of a step) is rounded
// up, what is allowed (rho of a budget, epsilon of a step) down, noise up. A function and its way
// back agree: the price of what a budget allows is never above that budget. UsageError when an
// argument is not finite or out of range (delta in (0, 1); amounts and noise positive).

#include "tandem/base/units.h"

namespace tandem {

// --- Whole guarantees: zCDP and (epsilon, delta)
//
//   Canonne, Kamath, Steinke. The Discrete Gaussian for Differential Privacy. 2020, Corollary 13:
//   rho-zCDP implies (epsilon, delta)-DP for every alpha > 1 with
//   delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)^alpha.

// Privacy: rho-zCDP implies (result, delta)-DP. The least over alpha, rounded up.
Epsilon epsilon_of(Rho rho, Delta delta);

// Privacy: rho-zCDP implies (epsilon, result)-DP. The least over alpha, rounded up; at most 1.
Delta delta_of(Rho rho, Epsilon epsilon);

// Privacy: result-zCDP implies (epsilon, delta)-DP, judged by `epsilon_of`. The largest such,
// rounded down.
Rho rho_of(Epsilon epsilon, Delta delta);

// --- Steps that are differentially private without delta

// Privacy: epsilon-DP implies epsilon^2/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
Rho pure_rho(Epsilon epsilon);
Epsilon pure_epsilon(Rho rho);

// Privacy: the exponential mechanism at epsilon has bounded range epsilon, hence epsilon^2/8-zCDP
// (Cesar and Rogers 2021).
Rho exponential_rho(Epsilon epsilon);
Epsilon exponential_epsilon(Rho rho);

// Privacy: permute-and-flip is epsilon-DP (McKenna and Sheldon 2020); only the general bound
// epsilon^2/2 holds for it.
Rho permute_and_flip_rho(Epsilon epsilon);
Epsilon permute_and_flip_epsilon(Rho rho);

// Privacy: discrete Laplace noise of scale b is (D1 / b)-DP (Ghosh, Roughgarden, Sundararajan
// 2009).
Epsilon laplace_epsilon(L1Sensitivity sensitivity, Scale scale);
Scale laplace_scale(L1Sensitivity sensitivity, Epsilon epsilon);

// --- Gaussian noise

// Privacy: discrete Gaussian noise is D2^2 / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke 2020,
// Theorem 4).
Rho gaussian_rho(SquaredL2Sensitivity sensitivity, Sigma sigma);
Sigma gaussian_sigma(SquaredL2Sensitivity sensitivity, Rho rho);

// The exact delta at epsilon of continuous Gaussian noise (Balle and Wang 2018, Theorem 8).
// Privacy: a yardstick for audits, right to about 1e-12 of itself; not rounded, never charged.
Delta gaussian_delta(Sigma sigma, SquaredL2Sensitivity sensitivity, Epsilon epsilon);

// --- Advanced composition, for papers that state their budgets so

// Privacy: `steps` adaptive steps, each epsilon_0-DP, are (result, delta)-DP with result =
// sqrt(2 T ln(1/delta)) e0 + T e0 (e^e0 - 1) (Dwork, Rothblum, Vadhan 2010, Theorem III.3).
Epsilon advanced_composition(Epsilon step, int steps, Delta delta);

// Privacy: the largest step whose advanced composition stays within `total`, rounded down.
Epsilon advanced_composition_step(Epsilon total, int steps, Delta delta);

}  // namespace tandem
