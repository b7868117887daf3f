// revisions lists the files of one name, and restore makes one of them the newest again. Revisions
// have the numbers of the GridFS specification: 0 is the oldest file, and -1 the newest.
#include <time.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/upload_order.h"
#include "gridfs/namespace/revisions.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_copy.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/interruption.h"
#include "tools/gridfiles/output.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// Returns the files of the name, the newest first. This is the order in which the bucket numbers
// revisions.
Result<std::vector<bson::Document>> files_of_name(const CommandContext& context,
                                                  const std::string& name) {
  bson::Builder by_name;
  by_name.append("filename", name);
  std::vector<bson::Document> files;
  const auto visit = [&](bson::View file) -> Status {
    files.emplace_back(file);
    return {};
  };
  GM_TRY(for_each_file(context, std::move(by_name).finish(), gridfs::newest_first(), visit));
  return files;
}

// Returns the uploadDate as "2024-01-31T12:00:00.250Z", or as Extended JSON if it is not a date or
// is before 1970. Returns an empty text if there is none.
std::string upload_date_text(bson::View file) {
  const auto date = file.find("uploadDate");
  if (!date) return "";
  if (date->type() == bson::Type::kDate) {
    const int64_t milliseconds = date->as_date().milliseconds;
    const time_t seconds = milliseconds / 1000;
    tm utc{};
    std::array<char, 32> text{};
    if (milliseconds >= 0 && gmtime_r(&seconds, &utc) != nullptr &&
        strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc) != 0) {
      std::array<char, 8> fraction{};
      (void)snprintf(fraction.data(), fraction.size(), ".%03dZ",
                     static_cast<int>(milliseconds % 1000));
      return std::string(text.data()) + fraction.data();
    }
  }
  return bson::to_json(*date, bson::JsonForm::kRelaxed);
}

}  // namespace

Status run_revisions(const CommandContext& context) {
  GM_ASSIGN(const auto files, files_of_name(context, context.arguments[0]));
  if (files.empty()) return files_not_found(context.arguments);
  for (size_t i = 0; i < files.size(); ++i) {
    if (context.options.json) {
      GM_TRY(print_json(files[i]));
      continue;
    }
    const bson::View file = files[i];
    GM_TRY(print_line(std::to_string(files.size() - 1 - i) + "\t-" + std::to_string(i + 1) + "\t" +
                      upload_date_text(file) + "\t" + std::to_string(length_of(file).value_or(0)) +
                      "\t" + bson::to_json(file["_id"], bson::JsonForm::kRelaxed)));
  }
  return flush_output();
}

// The copy gets a later uploadDate than the newest file, even if the clock of that file's writer
// was ahead.
Status run_restore(const CommandContext& context) {
  const std::string& name = context.arguments[0];
  const int revision = *context.options.revision;
  GM_ASSIGN(const auto source, file_of_revision(context, name, revision));
  GM_ASSIGN(const auto newest, newest_file(context, name));
  if (!source || !newest) return files_not_found(context.arguments);
  const std::string what = "revision " + std::to_string(revision) + " of " + in_quotes(name);
  if (bson::Value(source->view()["_id"]) == bson::Value(newest->view()["_id"])) {
    context.log.line(Log::kAlways, what + " is the newest already");
    return {};
  }
  if (!gridfs::can_be_superseded(*newest)) {
    return fail(ErrorCode::kIllegalOperation,
                what +
                    " cannot become the newest: the newest file's uploadDate is not a date, or "
                    "the last that there is");
  }
  GM_TRY(copy_file(context, *source, name, gridfs::date_after(*newest)));
  context.log.line(Log::kAlways, "restored " + what);
  return {};
}

}  // namespace gridmount::tools
