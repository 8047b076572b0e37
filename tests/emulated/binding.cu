// Every kind of value that a host function takes and gives.
#include <torch/extension.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

int64_t add(int64_t a, int b) { return a + b; }
double scale(double x, bool twice) { return twice ? 2 * x : x; }
std::string greet(const std::string& name) { return "hello " + name; }
at::Tensor same(torch::Tensor& x) { return x; }
void fill(const at::Tensor& x, float value) { x.fill_(value); }
bool is_none(std::optional<at::Tensor> x) { return !x.has_value(); }
std::vector<at::Tensor> halves(std::vector<at::Tensor> all) {
  for (auto& each : all) each = each / 2;
  return all;
}
std::tuple<at::Tensor, int64_t> sized(at::Tensor x, at::IntArrayRef sizes) { return {x.reshape(sizes), x.numel()}; }
at::Tensor typed(at::Tensor x, at::ScalarType type) { return x.to(type); }
at::Tensor undefined() { return at::Tensor(); }
void check(at::Tensor x) { TORCH_CHECK(x.dim() == 2, "x must have 2 dimensions, has ", x.dim()); }
void out_of_range() { throw std::out_of_range("too far"); }
void invalid() { throw std::invalid_argument("not that"); }
void other() { throw std::runtime_error("broken"); }
int which(int) { return 1; }
int which_tensor(at::Tensor) { return 2; }

// A value that may be of several kinds, as bindings of convolutions take their bias and strides.
double total(py::object x, pybind11::object more) {
  double sum = x.is_none() ? 0 : x.cast<at::Tensor>().sum().item<double>();
  if (py::isinstance<py::int_>(more)) return sum + more.cast<int64_t>();
  if (!py::isinstance<py::sequence>(more)) throw std::runtime_error("neither a number nor a sequence");
  for (auto one : more.cast<py::sequence>()) sum += py::cast<int64_t>(one);
  return sum;
}
py::object back(py::object x) { return py::hasattr(x, "data") ? x.attr("data") : x; }
int64_t first(py::sequence all) { return all.size() > 1 ? all[0].cast<int64_t>() : all[5].cast<int64_t>(); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "values";
  m.def("add", &add, "sum of two", py::arg("a"), py::arg("b") = 40);
  m.def("scale", &scale, py::arg("x"), py::arg("twice") = false);
  m.def("greet", &greet);
  m.def("same", &same);
  m.def("fill", &fill);
  m.def("is_none", &is_none, py::arg("x") = py::none());
  m.def("halves", &halves);
  m.def("sized", &sized);
  m.def("typed", &typed);
  m.def("undefined", &undefined);
  m.def("check", &check);
  m.def("out_of_range", &out_of_range);
  m.def("invalid", &invalid);
  m.def("other", &other);
  m.def("which", &which);
  m.def("which", &which_tensor);
  m.def("total", &total, py::arg("x") = py::none(), py::arg("more") = py::int_(3));
  m.def("back", &back);
  m.def("first", &first);
  m.def("square", [](int x) { return x * x; }, "of a lambda");
}
