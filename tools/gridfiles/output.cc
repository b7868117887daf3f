#include "tools/gridfiles/output.h"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "command_line/progress.h"
#include "engine/bson/json.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

auto cannot_write() {
  return fail(ErrorCode::kIoError, system_error_text("write", "/dev/stdout", errno));
}

}  // namespace

Status print_line(std::string line) {
  line += '\n';
  hide_progress();
  if (fwrite(line.data(), 1, line.size(), stdout) != line.size()) return cannot_write();
  return {};
}

Status print_json(bson::View document) {
  return print_line(bson::to_json(document, bson::JsonForm::kRelaxed));
}

Status flush_output() {
  if (fflush(stdout) != 0) return cannot_write();
  return {};
}

}  // namespace gridmount::tools
