/* early_stopping.c - the incomplete beta function and two monotone searches on it.
 *
 * I_x(a, b) is evaluated by its continued fraction (modified Lentz) on the side where that
 * converges fast. need(t) grows with t, so both "smallest h" and "largest t" are found by doubling
 * and bisection. */
#include "metrics/early_stopping.h"

#include <math.h>

enum { ROUNDS_MAX = 399 };
static const double epsilon = 3e-16, floor_value = 1e-300;

static double away_from_zero(double d)
{
    return fabs(d) < floor_value ? floor_value : d;
}

static double continued_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double h = d;
    for (int m = 1; m <= ROUNDS_MAX; m++) {
        double even = m * (b - m) * x / ((a - 1 + 2 * m) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1 + 2 * m));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1) < epsilon)
            break;
    }
    return h;
}

double td_beta_regularized(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x));
    if (x < (a + 1) / (a + b + 2))
        return front * continued_fraction(a, b, x) / a;
    return 1 - front * continued_fraction(b, a, 1 - x) / b;
}

static bool enough(uint64_t below, uint64_t above, double q)
{
    return td_beta_regularized((double)below, (double)above + 1, q) < 1 - TD_EARLY_CONFIDENCE;
}

uint64_t td_early_need(uint64_t t, double q)
{
    uint64_t high = 2, low = 1;
    while (!enough(high, t, q))
        high *= 2;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (enough(middle, t, q))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t td_early_min_count(double q)
{
    return td_early_need(1, q) + 1;
}

uint64_t td_early_discarded(uint64_t n, double q)
{
    if (n < td_early_min_count(q))
        return 0;
    uint64_t low = 1, high = n; /* low fits, high does not: need(n) >= 1 */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (td_early_need(middle, q) + middle <= n)
            low = middle;
        else
            high = middle;
    }
    return low;
}
