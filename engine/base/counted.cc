#include "engine/base/counted.h"

namespace gridmount {

std::string counted(uint64_t number, std::string_view noun) {
  return counted(number, noun, std::string(noun) + (noun.ends_with('x') ? "es" : "s"));
}

std::string counted(uint64_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : many);
}

}  // namespace gridmount
