// list and search print the name, a tab and the length of each files document.
#include <cerrno>
#include <cstdio>
#include <string>

#include "engine/bson/builder.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/interruption.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// Strings are ordered as bytes, so those that begin with `prefix` lie between it and the prefix
// with its last byte increased.
bson::Document begins_with(const std::string& prefix) {
  std::string end = prefix;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  bson::Builder filter;
  filter.open_document("filename").append("$gte", prefix);
  if (end.empty()) return std::move(filter.close()).finish();
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  filter.append("$lt", end).close();
  return std::move(filter).finish();
}

Status print_line(const Log& log, bson::View document) {
  auto filename = document.find("filename");
  auto length = document.find("length");
  auto bytes = length ? length->integral() : std::nullopt;
  std::string name(filename && filename->type() == bson::Type::kString ? filename->as_string()
                                                                       : "");
  if (!bytes) {
    log.line(Log::kAlways, "WARNING: the length in the files document of " + in_quotes(name) +
                               " is not a whole number; see `gridstore check`");
  }
  std::string line = name + "\t" + std::to_string(bytes.value_or(0)) + "\n";
  if (fwrite(line.data(), 1, line.size(), stdout) != line.size()) {
    return fail(ErrorCode::kIoError, system_error_text("write", "/dev/stdout", errno));
  }
  return {};
}

Status print_found(const CommandContext& context, bson::View filter) {
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  GM_ASSIGN(auto cursor, context.bucket.find(*snapshot, filter, {.one_at_a_time = true}));
  for (;;) {
    GM_TRY(Interruption::check());
    GM_ASSIGN(auto document, cursor->next());
    if (!document) break;
    GM_TRY(print_line(context.log, *document));
  }
  if (fflush(stdout) != 0) {
    return fail(ErrorCode::kIoError, system_error_text("write", "/dev/stdout", errno));
  }
  return {};
}

Status print_files(const CommandContext& context, bson::View filter) {
  Status printed = print_found(context, filter);
  if (printed || printed.error().code() == ErrorCode::kInterrupted) return printed;
  return fail(std::move(printed).error().with_context("error retrieving list of GridFS files"));
}

}  // namespace

Status run_list(const CommandContext& context) {
  if (context.arguments.empty()) return print_files(context, bson::View());
  return print_files(context, begins_with(context.arguments[0]));
}

Status run_search(const CommandContext& context) {
  bson::Builder filter;
  filter.open_document("filename").append("$regex", context.arguments[0]).close();
  return print_files(context, std::move(filter).finish());
}

}  // namespace gridmount::tools
