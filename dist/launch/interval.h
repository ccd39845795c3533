#pragma once
// Means of differences, and how well they are known.

#include <vector>

namespace tg {

// 95 % confidence: the mean's true value lies within mean +- half, if the values are a fair sample.
struct Interval {
  double mean = 0, half = 0;  // half: NaN where there are too few values for one
};

// The two-sided 95 % quantile of Student's t distribution: 12.7 for one degree of freedom, 1.96 for very many.
double student_t(int degrees);

// Of independent values: Student's t, from two values on.
Interval interval_of(const std::vector<double>& values);

// Of a series whose neighbours resemble each other, such as the losses of one training: Student's t over the means of
// kBlocks blocks of it (nonoverlapping batch means; Law & Kelton, Simulation Modeling and Analysis, chapter 9). It is
// fair as far as blocks are long beside the time over which the series remembers. From kBlocks * kLeastBlock values on.
Interval interval_of_series(const std::vector<double>& values);
inline constexpr int kBlocks = 10, kLeastBlock = 8;

}  // namespace tg
