/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distributions: cumulative probabilities and quantiles of the common distributions.
 *
 * NAME_below(x, ...) is the probability of a value of at most x, NAME_above() of a value above x
 * (precise for small tails). NAME_quantile(p, ...) is the x with NAME_below(x) = p. Degrees of
 * freedom are positive and need not be whole; from 1e6 on they count as infinite. A parameter
 * outside its range gives NaN. Relative error: about 1e-10. Pure functions.
 */
#ifndef ASSAY_BASE_STATISTICS_DISTRIBUTIONS_H
#define ASSAY_BASE_STATISTICS_DISTRIBUTIONS_H

double normal_below(double z);
double normal_above(double z);
double normal_quantile(double p);

double student_below(double t, double degrees);
double student_above(double t, double degrees);
double student_quantile(double p, double degrees);

/* F: a ratio of two variances, `top` and `bottom` degrees of freedom. */
double ratio_below(double f, double top, double bottom);
double ratio_above(double f, double top, double bottom);
double ratio_quantile(double p, double top, double bottom);

double chi_square_below(double x, double degrees);
double chi_square_above(double x, double degrees);
double chi_square_quantile(double p, double degrees);

double beta_below(double x, double a, double b);
double beta_quantile(double p, double a, double b);

/* At most (at least) `hits` successes in `tries`, each of probability `p`. The counts may be
 * fractions: the values between whole counts are those of the continuous beta function. */
double binomial_at_most(double hits, double tries, double p);
double binomial_at_least(double hits, double tries, double p);

/* The first and second derivative of the logarithm of the gamma function, for x > 0; for a
 * logarithm of a chi-square value they are its mean and variance. trigamma_inverse(trigamma(x)) =
 * x. */
double digamma(double x);
double trigamma(double x);
double trigamma_inverse(double y);

#endif
