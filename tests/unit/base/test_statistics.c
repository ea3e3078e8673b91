/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"

#include "check.h"

#include <math.h>

/* The expected values are those of printed tables, with more digits. */
static bool near(double got, double want)
{
	if (fabs(got - want) <= 1e-8 * fabs(want))
		return true;
	printf("# %.12g, not %.12g\n", got, want);
	return false;
}

static void normal_values(void)
{
	CHECK(near(normal_below(1.959963984540054), 0.975));
	CHECK(near(normal_above(6), 9.865876450376981e-10));
	CHECK(near(normal_quantile(0.975), 1.959963984540054));
	CHECK(near(normal_quantile(0.8), 0.8416212335729143));
	CHECK(near(normal_quantile(1e-9), -5.99780701500768));
	CHECK(normal_quantile(0.5) == 0);
	CHECK(isinf(normal_quantile(1)) && isnan(normal_quantile(2)));
}

static void student_values(void)
{
	CHECK(near(student_quantile(0.975, 1), 12.7062047361747));
	CHECK(near(student_quantile(0.975, 3), 3.18244630528371));
	CHECK(near(student_quantile(0.025, 8), -2.30600413520417));
	CHECK(near(student_quantile(0.995, 30), 2.74999565356721));
	CHECK(near(student_quantile(0.975, 1e7), 1.959963984540054));
	CHECK(near(student_below(2, 4), 0.941941738241592));
	CHECK(near(student_above(2, 4), 0.058058261758408));
	CHECK(near(student_below(-2, 4), 0.058058261758408));
	CHECK(isnan(student_quantile(0.9, 0)));
}

static void ratio_and_chi_square_values(void)
{
	CHECK(near(ratio_quantile(0.95, 3, 10), 3.70826481904684));
	CHECK(near(ratio_above(3.70826481904684, 3, 10), 0.05));
	CHECK(near(ratio_below(3.70826481904684, 3, 10), 0.95));
	CHECK(near(chi_square_quantile(0.95, 1), 3.841458820694124));
	CHECK(near(chi_square_quantile(0.05, 10), 3.940299136119061));
	CHECK(near(chi_square_below(10, 10), 0.5595067149347874));
	CHECK(near(chi_square_above(10, 2), exp(-5)) && near(chi_square_above(900, 2), exp(-450)));
}

static void beta_and_binomial_values(void)
{
	CHECK(near(beta_below(0.3, 2, 5), 0.579825));
	CHECK(near(beta_quantile(0.5, 2, 2), 0.5));
	CHECK(near(binomial_at_most(3, 10, 0.5), 0.171875));
	CHECK(near(binomial_at_least(8, 10, 0.5), 0.0546875));
	CHECK(near(binomial_at_most(0, 20, 0.1), 0.121576654590569));
	CHECK(binomial_at_least(0, 10, 0.5) == 1 && binomial_at_most(10, 10, 0.5) == 1);
	CHECK(binomial_at_most(490000, 1000000, 0.5) < 1e-80);
}

static void derivatives_of_log_gamma(void)
{
	CHECK(near(digamma(1), -0.577215664901533) && near(digamma(0.5), -1.96351002602142));
	CHECK(near(trigamma(1), M_PI * M_PI / 6) && near(trigamma(0.5), M_PI * M_PI / 2));
	CHECK(near(digamma(1e5), log(1e5) - 5e-6 - 1e-10 / 12));
	CHECK(near(trigamma_inverse(trigamma(3.7)), 3.7));
}

/* A quantile's probability is the probability that was asked for. */
static void quantiles_invert_probabilities(void)
{
	static const double ps[] = {1e-6, 0.01, 0.3, 0.5, 0.9, 0.999};
	static const double degrees[] = {0.5, 1, 2.5, 7, 40, 3000};

	for (size_t i = 0; i < sizeof(ps) / sizeof(*ps); i++)
		for (size_t j = 0; j < sizeof(degrees) / sizeof(*degrees); j++) {
			double p = ps[i], d = degrees[j];

			CHECK(near(student_below(student_quantile(p, d), d), p));
			CHECK(near(chi_square_below(chi_square_quantile(p, d), d), p));
			CHECK(near(ratio_below(ratio_quantile(p, 3, d), 3, d), p));
			CHECK(near(beta_below(beta_quantile(p, 3, d), 3, d), p));
			CHECK(near(normal_below(normal_quantile(p)), p));
		}
}

static void lists_have_quantiles_and_means(void)
{
	double values[] = {4, 1, 3, 2}, one[] = {7};
	double a[] = {1, 2, 3, 4, 5}, b[] = {3, 5, 7, 9, 11};
	struct mean_interval m = mean_interval(values, 4, 0.95);

	CHECK(near(m.mean, 2.5) && near(m.deviation, 1.29099444873581));
	CHECK(near(m.low, 0.445739743239121) && near(m.high, 4.55426025676088));
	CHECK(near(sort_median(values, 4), 2.5));
	CHECK(near(sorted_quantile(values, 4, 1), 4) && near(sorted_quantile(one, 1, 0.3), 7));
	CHECK(isnan(sorted_quantile(one, 0, 0.5)));
	CHECK(isnan(mean_interval(one, 1, 0.95).low) && mean_interval(one, 1, 0.95).mean == 7);
	m = mean_difference(a, 5, b, 5, 0.95);
	CHECK(near(m.mean, 4));
	CHECK(near(m.high - m.mean, m.mean - m.low));
	CHECK(near(m.high - m.mean, sqrt(2.5) * student_quantile(0.975, 6.25 / 1.0625)));
}

/* Published results of Welch's test for unequal counts and variances: Wikipedia, "Welch's t-test",
 * examples 2 and 3. */
static void unequal_samples_have_the_degrees_of_freedom_of_welch(void)
{
	static const double wide[] = {17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8};
	static const double narrow[] = {21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8,
	                                20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8};
	static const double few[] = {19.8, 20.4, 19.6, 17.8, 18.5, 18.9, 18.3, 18.9, 19.5, 22.0};
	static const double many[] = {28.2, 26.6, 20.1, 23.3, 25.2, 22.1, 17.7, 27.6, 20.6, 13.7,
	                              23.2, 17.5, 20.6, 18.0, 23.9, 21.6, 24.3, 20.4, 24.0, 13.2};
	struct mean_interval m = mean_difference(wide, 10, narrow, 20, 0.95);

	CHECK(fabs(m.degrees - 9.9) < 0.05);
	CHECK(fabs(m.mean / m.error - 1.57) < 0.005);
	CHECK(fabs(mean_probability(&m) - 0.149) < 0.0005);
	m = mean_difference(few, 10, many, 20, 0.95);
	CHECK(fabs(m.degrees - 24.5) < 0.05);
	CHECK(fabs(m.mean / m.error - 2.22) < 0.005);
	CHECK(fabs(mean_probability(&m) - 0.036) < 0.0005);
}

static void false_discovery_rates_follow_benjamini_and_hochberg(void)
{
	double p[] = {0.01, 0.04, NAN, 0.03, 0.005, 0.8}, q[6];

	false_discovery_rates(p, 6, q);
	CHECK(near(q[4], 0.025) && near(q[0], 0.025));
	CHECK(near(q[3], 0.05) && near(q[1], 0.05));
	CHECK(near(q[5], 0.8) && isnan(q[2]));
	false_discovery_rates(p, 0, q);
}

static void family_error_rates_follow_holm(void)
{
	double p[] = {0.01, 0.04, NAN, 0.03, 0.005, 0.8}, adjusted[6];

	family_error_rates(p, 6, adjusted);
	CHECK(near(adjusted[4], 0.025) && near(adjusted[0], 0.04));
	CHECK(near(adjusted[3], 0.09) && near(adjusted[1], 0.09));
	CHECK(near(adjusted[5], 0.8) && isnan(adjusted[2]));
	family_error_rates(p, 0, adjusted);
}

static void means_are_tested_against_zero(void)
{
	const double values[] = {1, 2, 3, 4, 5}, equal[] = {3, 3, 3}, zeros[] = {0, 0};
	struct mean_interval m = mean_interval(values, 5, 0.95), r;
	double t = 3 / sqrt(0.5);

	CHECK(near(mean_probability(&m), 2 * student_above(t, 4)));
	r = mean_interval_rounded(m, 0.1, 0.95);
	CHECK(near(r.low, m.low));
	m = mean_interval(equal, 3, 0.95);
	CHECK(near(mean_probability(&m), 0));
	m = mean_interval_rounded(m, 0.5, 0.95);
	CHECK(near(m.mean, 3) && near(m.high, 3 + 0.5 * student_quantile(0.975, 2)));
	CHECK(near(mean_probability(&m), 2 * student_above(6, 2)));
	m = mean_interval(zeros, 2, 0.95);
	CHECK(near(mean_probability(&m), 1));
	m = mean_interval(values, 1, 0.95);
	CHECK(isnan(mean_probability(&m)));
}

int main(void)
{
	RUN(normal_values);
	RUN(student_values);
	RUN(ratio_and_chi_square_values);
	RUN(beta_and_binomial_values);
	RUN(derivatives_of_log_gamma);
	RUN(quantiles_invert_probabilities);
	RUN(lists_have_quantiles_and_means);
	RUN(family_error_rates_follow_holm);
	RUN(means_are_tested_against_zero);
	RUN(unequal_samples_have_the_degrees_of_freedom_of_welch);
	RUN(false_discovery_rates_follow_benjamini_and_hochberg);
	return check_end();
}
