#include "tests/ops/cases.h"

#include "framework/autograd/graph.h"
#include "framework/ops/conv.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pool.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

namespace tg::test {
namespace {

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

void add_arithmetic(std::vector<OpCase>& cases) {
  const auto all_shapes = [&](const std::string& op, Tensor (*f)(const Tensor&, const Tensor&), double low,
                              double high) {
    const Function apply = [f](const Inputs& x) { return f(x[0], x[1]); };
    cases.push_back({op + "/same shapes", {{{3, 4}}, {{3, 4}, low, high}}, apply});
    cases.push_back({op + "/row", {{{3, 4}}, {{4}, low, high}}, apply});
    cases.push_back({op + "/column on the left", {{{3, 1}}, {{3, 4}, low, high}}, apply});
    cases.push_back({op + "/both spread", {{{2, 1, 3}}, {{4, 1}, low, high}}, apply});
    cases.push_back({op + "/scalar", {{{}}, {{2, 3}, low, high}}, apply});
    cases.push_back({op + "/scalars", {{{}}, {{}, low, high}}, apply});
    cases.push_back({op + "/middle axis", {{{2, 3, 4}}, {{2, 1, 4}, low, high}}, apply});
    cases.push_back({op + "/leading ones", {{{1, 1, 3}}, {{3}, low, high}}, apply});
    cases.push_back({op + "/transposed", {{{3, 4}}, {{4, 3}, low, high}}, [f](const Inputs& x) {
                       return f(transpose2d(x[0]), x[1]);
                     }});
    cases.push_back({op + "/slice of columns", {{{3, 5}}, {{3, 2}, low, high}}, [f](const Inputs& x) {
                       return f(slice(x[0], 1, 2, 4), x[1]);
                     }});
    cases.push_back({op + "/with itself", {{{2, 3}, low, high}}, [f](const Inputs& x) { return f(x[0], x[0]); }});
  };
  all_shapes("add", add, -1.5, 1.5);
  all_shapes("subtract", subtract, -1.5, 1.5);
  all_shapes("multiply", multiply, -1.5, 1.5);
  all_shapes("divide", divide, 0.5, 2);
  cases.push_back({"divide/negative", {{{3, 4}}, {{4}, -2, -0.5}}, [](const Inputs& x) { return x[0] / x[1]; }});
  cases.push_back({"add_number/plus", {{{3, 4}}}, [](const Inputs& x) { return 0.75 + x[0]; }});
  cases.push_back({"add_number/minus", {{{3, 4}}}, [](const Inputs& x) { return x[0] - 0.75; }});
  cases.push_back({"subtract_from_number/matrix", {{{3, 4}}}, [](const Inputs& x) { return 0.75 - x[0]; }});
  cases.push_back({"multiply_number/matrix", {{{3, 4}}}, [](const Inputs& x) { return -1.25 * x[0]; }});
  cases.push_back({"multiply_number/zero", {{{3}}}, [](const Inputs& x) { return x[0] * 0; }});
  cases.push_back({"divide_by_number/matrix", {{{3, 4}}}, [](const Inputs& x) { return x[0] / 3; }});
  cases.push_back({"divide_number/matrix", {{{3, 4}, 0.5, 2}}, [](const Inputs& x) { return 3 / x[0]; }});
  cases.push_back({"divide_number/negative", {{{3, 4}, -2, -0.5}}, [](const Inputs& x) { return 3 / x[0]; }});
}

void add_unary(std::vector<OpCase>& cases) {
  const auto shapes = [&](const std::string& op, Tensor (*f)(const Tensor&), double low, double high) {
    const Function apply = [f](const Inputs& x) { return f(x[0]); };
    cases.push_back({op + "/matrix", {{{3, 5}, low, high}}, apply});
    cases.push_back({op + "/scalar", {{{}, low, high}}, apply});
    cases.push_back({op + "/transposed", {{{2, 3, 1}, low, high}}, [f](const Inputs& x) {
                       return f(transpose(x[0], {2, 1, 0}));
                     }});
  };
  shapes("negate", negate, -1.5, 1.5);
  shapes("relu", relu, -1.5, 1.5);
  shapes("exp", exp, -1.5, 1.5);
  shapes("log", log, 0.25, 3);
  shapes("sqrt", sqrt, 0.25, 3);
  shapes("tanh", tanh, -1.5, 1.5);
  shapes("sigmoid", sigmoid, -3, 3);
  for (const double exponent : {2.0, 3.0, -1.0, -2.0, 1.0, 0.0}) {
    cases.push_back({fmt::format("pow/{}", exponent), {{{3, 4}, 0.5, 2}}, [exponent](const Inputs& x) {
                       return pow(x[0], exponent);
                     }});
    cases.push_back({fmt::format("pow/negative base {}", exponent), {{{3, 4}, -2, -0.5}}, [exponent](const Inputs& x) {
                       return pow(x[0], exponent);
                     }});
  }
  cases.push_back({"pow/2.5", {{{3, 4}, 0.5, 2}}, [](const Inputs& x) { return pow(x[0], 2.5); }});
  cases.push_back({"relu/used again",  // so that the gradient may not be overwritten in place
                   {{{3, 4}}},
                   [](const Inputs& x) {
                     const Tensor y = relu(x[0]);
                     return y * y + y;
                   }});
}

void add_reductions(std::vector<OpCase>& cases) {
  using Reduce = Tensor (*)(const Tensor&, const std::vector<int>&, ReduceOptions);
  struct Case {
    const char* what;
    Shape shape;
    std::vector<int> axes;
    bool keep_dims;
  };
  const std::vector<Case> list{{"all", {3, 4}, {}, false},
                               {"all, kept", {3, 4}, {}, true},
                               {"scalar", {}, {}, false},
                               {"first", {3, 4}, {0}, false},
                               {"last", {3, 4}, {-1}, false},
                               {"middle", {2, 3, 4}, {1}, false},
                               {"middle, kept", {2, 3, 4}, {1}, true},
                               {"first two", {2, 3, 4}, {0, 1}, false},
                               {"outer two", {2, 3, 4}, {0, 2}, false},
                               {"outer two, kept", {2, 3, 4}, {2, 0}, true},
                               {"three of four", {2, 3, 2, 3}, {0, 1, 3}, false},
                               {"apart", {2, 3, 2, 3}, {1, 3}, false},
                               {"across ones", {2, 1, 3, 1}, {0, 2}, false},
                               {"an axis of one", {2, 1, 3}, {1}, false}};
  for (const auto& [op, reduce] : {std::pair<std::string, Reduce>{"sum", sum}, {"mean", mean}, {"max", max}}) {
    for (const Case& c : list)
      cases.push_back({op + "/" + c.what, {{c.shape}}, [reduce = reduce, c](const Inputs& x) {
                         return reduce(x[0], c.axes, {.keep_dims = c.keep_dims});
                       }});
    cases.push_back({op + "/of a view", {{{4, 3}}}, [reduce = reduce](const Inputs& x) {
                       return reduce(slice(transpose2d(x[0]), 1, 1, 3), {1}, {});
                     }});
  }
}

void add_products(std::vector<OpCase>& cases) {
  const auto product = [&](const std::string& what, const Shape& a, const Shape& b) {
    cases.push_back({"matmul/" + what, {{a}, {b}}, [](const Inputs& x) { return matmul(x[0], x[1]); }});
  };
  product("square", {3, 3}, {3, 3});
  product("general", {3, 4}, {4, 5});
  product("row by column", {1, 7}, {7, 1});
  product("column by row", {3, 1}, {1, 4});
  product("one by one", {1, 1}, {1, 1});
  cases.push_back({"matmul/left transposed", {{{4, 3}}, {{4, 5}}}, [](const Inputs& x) {
                     return matmul(transpose2d(x[0]), x[1]);
                   }});
  cases.push_back({"matmul/right transposed", {{{3, 4}}, {{5, 4}}}, [](const Inputs& x) {
                     return matmul(x[0], transpose2d(x[1]));
                   }});
  cases.push_back({"matmul/both transposed", {{{4, 3}}, {{5, 4}}}, [](const Inputs& x) {
                     return matmul(transpose2d(x[0]), transpose2d(x[1]));
                   }});
  cases.push_back({"matmul/slices", {{{3, 6}}, {{7, 2}}}, [](const Inputs& x) {
                     return matmul(slice(x[0], 1, 1, 5), slice(x[1], 0, 2, 6));
                   }});
  cases.push_back(
      {"matmul/by its own transpose", {{{3, 4}}}, [](const Inputs& x) { return matmul(x[0], transpose2d(x[0])); }});
  for (const bool bias : {false, true}) {
    for (const bool relu : {false, true}) {
      const std::string what = std::string(bias ? "bias" : "no bias") + (relu ? ", relu" : "");
      const auto apply = [bias, relu](const Inputs& x) { return linear(x[0], x[1], bias ? x[2] : Tensor(), relu); };
      const auto with_bias = [&](std::vector<Input> inputs, int64_t out) {
        if (bias) inputs.push_back({{out}});
        return inputs;
      };
      cases.push_back({"linear/" + what, with_bias({{{3, 4}}, {{5, 4}}}, 5), apply});
      cases.push_back({"linear/one sample, " + what, with_bias({{{1, 6}}, {{3, 6}}}, 3), apply});
      cases.push_back({"linear/one output, " + what, with_bias({{{4, 3}}, {{1, 3}}}, 1), apply});
    }
  }
  cases.push_back({"linear/views", {{{4, 3}}, {{4, 5}}, {{6}}}, [](const Inputs& x) {
                     return linear(transpose2d(x[0]), transpose2d(x[1]), slice(x[2], 0, 1, 6));
                   }});
}

void add_shapes(std::vector<OpCase>& cases) {
  cases.push_back({"reshape/matrix", {{{2, 6}}}, [](const Inputs& x) { return reshape(x[0], {3, 4}); }});
  cases.push_back({"reshape/one open", {{{2, 3, 4}}}, [](const Inputs& x) { return reshape(x[0], {2, -1}); }});
  cases.push_back({"reshape/to scalar", {{{1, 1}}}, [](const Inputs& x) { return reshape(x[0], Shape{}); }});
  cases.push_back(
      {"reshape/of a transpose", {{{2, 3}}}, [](const Inputs& x) { return reshape(transpose2d(x[0]), {-1}); }});
  cases.push_back({"transpose/matrix", {{{2, 3}}}, [](const Inputs& x) { return transpose2d(x[0]); }});
  cases.push_back({"transpose/cycle", {{{2, 3, 4}}}, [](const Inputs& x) { return transpose(x[0], {2, 0, 1}); }});
  cases.push_back({"transpose/from the end", {{{2, 3, 4}}}, [](const Inputs& x) {
                     return transpose(x[0], {-1, 1, 0});
                   }});
  cases.push_back({"slice/rows", {{{5, 3}}}, [](const Inputs& x) { return slice(x[0], 0, 1, 4); }});
  cases.push_back({"slice/columns", {{{3, 5}}}, [](const Inputs& x) { return slice(x[0], -1, 2, 5); }});
  cases.push_back({"slice/whole", {{{3, 2}}}, [](const Inputs& x) { return slice(x[0], 0, 0, 3); }});
  cases.push_back(
      {"slice/of a slice", {{{4, 5}}}, [](const Inputs& x) { return slice(slice(x[0], 0, 1, 4), 1, 1, 3); }});
  // Inputs and steps that float32 holds exactly: the conversion then loses nothing.
  cases.push_back({"to_type/there and back",
                   {{{3, 4}, -2, 2}},
                   [](const Inputs& x) { return to(to(x[0], DType::f32), DType::f64); },
                   0x1p-10});
  cases.push_back({"to_device/there and back", {{{3, 4}}}, [](const Inputs& x) {
                     const Device other = x[0].device() == kCpu ? kPlain : kCpu;
                     return to(2 * to(x[0], other), x[0].device());
                   }});
}

void add_pictures(std::vector<OpCase>& cases) {
  struct Conv {
    Shape x, weight;
    Conv2dOptions options;
    bool bias;
  };
  const auto conv = [&](const std::string& what, const Conv& c) {
    std::vector<Input> inputs{{c.x}, {c.weight}};
    if (c.bias) inputs.push_back({{c.weight[0]}});
    cases.push_back({"conv2d/" + what, inputs,
                     [c](const Inputs& x) { return conv2d(x[0], x[1], c.bias ? x[2] : Tensor(), c.options); }});
  };
  for (const int64_t stride : {1, 2, 3})
    for (const int64_t padding : {0, 1, 2})
      for (const int64_t kernel : {1, 2, 3})
        for (const int64_t channels : {1, 3})
          conv(fmt::format("stride {} padding {} kernel {} channels {}", stride, padding, kernel, channels),
               {{2, 5, 4, channels}, {2, kernel, kernel, channels}, {stride, padding}, true});
  // 7 x 6 pictures: neither stride divides what is left of both sides.
  for (const int64_t stride : {2, 3})
    for (const int64_t padding : {0, 1})
      for (const int64_t dilation : {1, 2})
        for (const int64_t groups : {1, 2})
          conv(fmt::format("stride {} padding {} dilation {} groups {}", stride, padding, dilation, groups),
               {{1, 7, 6, 2}, {2, 3, 2, 2 / groups}, {stride, padding, dilation, groups}, true});
  conv("no bias", {{1, 4, 4, 2}, {3, 3, 3, 2}, {}, false});
  conv("relu", {{2, 4, 4, 2}, {3, 3, 3, 2}, {.relu = true}, true});
  conv("relu, no bias", {{1, 4, 4, 2}, {1, 2, 2, 2}, {.relu = true}, false});
  conv("kernel as large as the picture", {{2, 3, 4, 2}, {2, 3, 4, 2}, {}, true});
  conv("tall kernel", {{1, 5, 3, 2}, {2, 3, 1, 2}, {.stride = 2, .padding = 1}, true});
  conv("stride past the kernel", {{1, 7, 7, 1}, {1, 2, 2, 1}, {.stride = 4}, true});
  conv("dilation 2", {{2, 6, 5, 2}, {3, 3, 2, 2}, {.stride = 1, .padding = 1, .dilation = 2}, true});
  conv("dilation 3, stride 2", {{1, 9, 8, 1}, {2, 3, 3, 1}, {.stride = 2, .padding = 2, .dilation = 3}, true});
  conv("2 groups", {{2, 5, 4, 4}, {6, 3, 3, 2}, {.padding = 1, .groups = 2}, true});
  conv("2 groups, stride 2, relu",
       {{2, 5, 6, 4}, {2, 3, 3, 2}, {.stride = 2, .padding = 1, .groups = 2, .relu = true}, true});
  conv("a group per channel", {{2, 4, 5, 3}, {3, 3, 3, 1}, {.stride = 2, .padding = 1, .groups = 3}, false});
  conv("one pixel", {{3, 1, 1, 2}, {2, 1, 1, 2}, {}, true});
  cases.push_back({"conv2d/of a view", {{{2, 3, 5, 4}}, {{2, 2, 2, 3}}}, [](const Inputs& x) {
                     return conv2d(transpose(x[0], {0, 2, 3, 1}), x[1], Tensor());
                   }});
  for (const int64_t kernel : {1, 2, 3})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t padding : {0, 1})
        if (padding < kernel)
          cases.push_back({fmt::format("max_pool2d/kernel {} stride {} padding {}", kernel, stride, padding),
                           {{{2, 5, 4, 3}}},
                           [=](const Inputs& x) {
                             return max_pool2d(x[0], {kernel, stride, padding});
                           }});
  cases.push_back({"max_pool2d/relu", {{{2, 4, 4, 3}, -1.5, 0.75}}, [](const Inputs& x) {
                     return max_pool2d(x[0], {.relu = true});
                   }});
  cases.push_back({"max_pool2d/relu, overlapping", {{{1, 5, 5, 2}, -1.5, 0.5}}, [](const Inputs& x) {
                     return max_pool2d(x[0], {.kernel = 3, .stride = 2, .padding = 1, .relu = true});
                   }});
  cases.push_back({"max_pool2d/one pixel", {{{2, 1, 1, 1}}}, [](const Inputs& x) {
                     return max_pool2d(x[0], {.kernel = 1, .stride = 1});
                   }});
}

void add_losses(std::vector<OpCase>& cases) {
  for (const Shape& shape : {Shape{4, 5}, Shape{1, 3}, Shape{3, 1}}) {
    cases.push_back({"log_softmax/" + shape.str(), {{shape}}, [](const Inputs& x) { return log_softmax(x[0]); }});
    cases.push_back({"cross_entropy/" + shape.str(), {{shape}}, [](const Inputs& x) {
                       std::vector<int32_t> labels;
                       for (int64_t i = 0; i < x[0].dim(0); ++i)
                         labels.push_back(static_cast<int32_t>((3 * i + 1) % x[0].dim(1)));
                       return cross_entropy(x[0], Tensor::from(labels, {x[0].dim(0)}, x[0].device()));
                     }});
  }
  cases.push_back(
      {"log_softmax/transposed", {{{4, 3}}}, [](const Inputs& x) { return log_softmax(transpose2d(x[0])); }});
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> all = [] {
    std::vector<OpCase> cases;
    add_arithmetic(cases);
    add_unary(cases);
    add_reductions(cases);
    add_products(cases);
    add_shapes(cases);
    add_pictures(cases);
    add_norms(cases);
    add_sequences(cases);
    add_lstms(cases);
    add_losses(cases);
    return cases;
  }();
  return all;
}

double fixed_number(uint64_t sequence, uint64_t i) {
  uint32_t h = static_cast<uint32_t>(i * 2654435761u + sequence * 40503u);
  h = (h ^ (h >> 16)) * 2246822519u;
  h = (h ^ (h >> 13)) * 3266489917u;
  h ^= h >> 16;
  return (h >> 8) * 0x1p-24;
}

Tensor fixed_tensor(uint64_t sequence, const Input& input, DType dtype, Device device) {
  std::vector<double> values(static_cast<size_t>(input.shape.count()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = input.low + (input.high - input.low) * fixed_number(sequence, i);
  return Tensor::from(values, input.shape, device).to(dtype);
}

ValueAndGradients evaluate(const OpCase& op_case, DType dtype, Device device) {
  std::vector<Tensor> leaves;
  for (const Input& input : op_case.inputs) leaves.push_back(leaf(fixed_tensor(leaves.size(), input, dtype, device)));
  const Tensor value = op_case.f(leaves);
  const Tensor cotangent = fixed_tensor(99, {value.shape(), 0.5, 1.5}, value.dtype(), value.device());
  return {value, gradients(value, leaves, cotangent)};
}

}  // namespace tg::test
