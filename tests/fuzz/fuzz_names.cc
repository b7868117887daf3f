// Fuzzes names from the mount: a plain name that was parsed must be written in the same way again.
// Also fuzzes components of filenames, which must survive the conversion to a name and back.

#include <cstdlib>

#include "gridfs/namespace/name_mapping.h"

using namespace gridmount;
using namespace gridmount::gridfs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool at_root : {false, true}) {
    if (const Result<ParsedName> parsed = parse_name(text, at_root)) {
      if (parsed->kind == ParsedName::Kind::kPlain &&
          escape_component(parsed->component, at_root) != text) {
        abort();
      }
    }
    const std::string_view component = first_component(text, at_root);
    const std::string name = escape_component(component, at_root);
    const Result<ParsedName> back = parse_name(name, at_root);
    if (!back) abort();
    if (back->kind == ParsedName::Kind::kLong) {
      if (fits_long_name(*back, component) != LongNameFit::kPlain) abort();
    } else if (back->component != component) {
      abort();
    }
  }
  return 0;
}
