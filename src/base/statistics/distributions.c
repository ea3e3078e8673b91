/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/statistics/distributions.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define TERMS_MAX 3000
#define INFINITE_DEGREES 1e6

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign); /* lgamma() writes a global variable */
}

double normal_below(double z)
{
	return erfc(-z * M_SQRT1_2) / 2;
}

double normal_above(double z)
{
	return erfc(z * M_SQRT1_2) / 2;
}

/* For p < 1/2: a start of Abramowitz and Stegun (26.2.23), then Halley's steps. */
static double normal_lower_quantile(double p)
{
	double t = sqrt(-2 * log(p));
	double z = (2.515517 + t * (0.802853 + t * 0.010328)) /
	                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
	           t;

	for (int i = 0; i < 3; i++) {
		double off = (normal_below(z) - p) * sqrt(2 * M_PI) * exp(z * z / 2);

		if (!isfinite(off))
			break;
		z -= off / (1 + z * off / 2);
	}
	return z;
}

double normal_quantile(double p)
{
	if (!(p >= 0 && p <= 1))
		return NAN;
	if (p == 0 || p == 1)
		return p ? INFINITY : -INFINITY;
	if (p == 0.5)
		return 0;
	return p < 0.5 ? normal_lower_quantile(p) : -normal_lower_quantile(1 - p);
}

static double not_zero(double x)
{
	return fabs(x) < DBL_MIN * 1e10 ? DBL_MIN * 1e10 : x;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), sum = d;

	for (int i = 1; i < TERMS_MAX; i++) {
		double m = i, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		sum *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		sum *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return sum;
}

/* The regularised incomplete beta function; y = 1 - x without loss of digits. */
static double incomplete_beta(double x, double y, double a, double b)
{
	double front;

	if (!(a > 0 && b > 0) || isnan(x) || isnan(y))
		return NAN;
	if (x <= 0 || y <= 0)
		return x > 0;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(y, b, a) / b;
}

double beta_below(double x, double a, double b)
{
	return incomplete_beta(x, 1 - x, a, b);
}

double student_above(double t, double degrees)
{
	double tail;

	if (!(degrees > 0) || isnan(t))
		return NAN;
	if (degrees >= INFINITE_DEGREES)
		return normal_above(t);
	tail = incomplete_beta(degrees / (degrees + t * t), t * t / (degrees + t * t), degrees / 2,
	                       0.5) /
	       2;
	return t > 0 ? tail : 1 - tail;
}

double student_below(double t, double degrees)
{
	return student_above(-t, degrees);
}

double ratio_below(double f, double top, double bottom)
{
	if (bottom >= INFINITE_DEGREES)
		return chi_square_below(f * top, top);
	return f > 0 ? incomplete_beta(top * f / (top * f + bottom), bottom / (top * f + bottom),
	                               top / 2, bottom / 2)
	             : 0;
}

double ratio_above(double f, double top, double bottom)
{
	if (bottom >= INFINITE_DEGREES)
		return chi_square_above(f * top, top);
	return f > 0 ? incomplete_beta(bottom / (top * f + bottom), top * f / (top * f + bottom),
	                               bottom / 2, top / 2)
	             : 1;
}

/* The regularised incomplete gamma function: a series below, a continued fraction above. */
static double incomplete_gamma(double x, double a, bool above)
{
	double front = exp(a * log(x) - x - log_gamma(a)), sum;

	if (x < a + 1) {
		double term = 1 / a;

		sum = term;
		for (int i = 1; i < TERMS_MAX && term > sum * 1e-16; i++) {
			term *= x / (a + i);
			sum += term;
		}
		sum *= front;
		return above ? 1 - sum : sum;
	}
	double b = x + 1 - a, c = 1 / DBL_MIN / 1e10, d = 1 / b;

	sum = d;
	for (int i = 1; i < TERMS_MAX; i++) {
		double n = -i * (i - a), step;

		b += 2;
		d = 1 / not_zero(n * d + b);
		c = not_zero(b + n / c);
		step = c * d;
		sum *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	sum *= front;
	return above ? sum : 1 - sum;
}

/* Wilson and Hilferty's normal value; its error is below 1e-7 for that many degrees. */
static double cube_root_normal(double x, double degrees)
{
	return (cbrt(x / degrees) - 1 + 2 / (9 * degrees)) / sqrt(2 / (9 * degrees));
}

double chi_square_below(double x, double degrees)
{
	if (!(degrees > 0) || isnan(x))
		return NAN;
	if (degrees >= INFINITE_DEGREES)
		return normal_below(cube_root_normal(x, degrees));
	return x > 0 ? incomplete_gamma(x / 2, degrees / 2, false) : 0;
}

double chi_square_above(double x, double degrees)
{
	if (!(degrees > 0) || isnan(x))
		return NAN;
	if (degrees >= INFINITE_DEGREES)
		return normal_above(cube_root_normal(x, degrees));
	return x > 0 ? incomplete_gamma(x / 2, degrees / 2, true) : 1;
}

/* Both add terms up to x = 20, where the asymptotic series has full precision. */
double digamma(double x)
{
	double sum = 0, r;

	for (; x < 20; x++)
		sum -= 1 / x;
	r = 1 / (x * x);
	return sum + log(x) - 1 / (2 * x) -
	       r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)));
}

double trigamma(double x)
{
	double sum = 0, r;

	for (; x < 20; x++)
		sum += 1 / (x * x);
	r = 1 / (x * x);
	return sum + 1 / x + r / 2 + r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r / 30)));
}

double trigamma_inverse(double y)
{
	double low = 1e-8, high = 1e8;

	for (int i = 0; i < 100 && high > low * (1 + 1e-14); i++) {
		double middle = sqrt(low * high);

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* --- quantiles, by bisection between a lower and an upper bound --- */

struct curve {
	double (*below)(double x, double a, double b);
	double a, b;
};

static double find(const struct curve *c, double p, double low, double high)
{
	for (int i = 0; i < 200 && high - low > 1e-13 * (fabs(low) + fabs(high)); i++) {
		double middle = low + (high - low) / 2;

		if (c->below(middle, c->a, c->b) < p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

/* The quantile of a distribution on positive numbers; `guess` is the start of the search. */
static double find_positive(const struct curve *c, double p, double guess)
{
	double low = guess, high = guess;

	if (!(p >= 0 && p <= 1))
		return NAN;
	if (p == 0 || p == 1)
		return p ? INFINITY : 0;
	while (low > DBL_MIN && c->below(low, c->a, c->b) > p)
		low /= 2;
	while (high < DBL_MAX / 2 && c->below(high, c->a, c->b) < p)
		high *= 2;
	return find(c, p, low, high);
}

static double student_middle(double t, double degrees, double unused)
{
	(void)unused;
	return 1 - 2 * student_above(t, degrees);
}

double student_quantile(double p, double degrees)
{
	const struct curve c = {student_middle, degrees, 0};

	if (!(p >= 0 && p <= 1) || !(degrees > 0))
		return NAN;
	if (degrees >= INFINITE_DEGREES || p == 0 || p == 0.5 || p == 1)
		return normal_quantile(p);
	return p > 0.5 ? find_positive(&c, 2 * p - 1, 1) : -find_positive(&c, 1 - 2 * p, 1);
}

double ratio_quantile(double p, double top, double bottom)
{
	const struct curve c = {ratio_below, top, bottom};

	return top > 0 && bottom > 0 ? find_positive(&c, p, 1) : NAN;
}

static double chi_square_curve(double x, double degrees, double unused)
{
	(void)unused;
	return chi_square_below(x, degrees);
}

double chi_square_quantile(double p, double degrees)
{
	const struct curve c = {chi_square_curve, degrees, 0};

	return degrees > 0 ? find_positive(&c, p, degrees) : NAN;
}

double beta_quantile(double p, double a, double b)
{
	const struct curve c = {beta_below, a, b};

	if (!(p >= 0 && p <= 1) || !(a > 0 && b > 0))
		return NAN;
	return p == 0 || p == 1 ? p : find(&c, p, 0, 1);
}

double binomial_at_least(double hits, double tries, double p)
{
	if (hits <= 0)
		return 1;
	return hits > tries ? 0 : incomplete_beta(p, 1 - p, hits, tries - hits + 1);
}

double binomial_at_most(double hits, double tries, double p)
{
	if (hits >= tries)
		return 1;
	return hits < 0 ? 0 : incomplete_beta(1 - p, p, tries - hits, hits + 1);
}
