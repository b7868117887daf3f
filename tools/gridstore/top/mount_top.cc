#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "command_line/byte_units.h"
#include "engine/base/counted.h"
#include "engine/bson/json.h"
#include "engine/system/system_error.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/top/status_fields.h"
#include "tools/gridstore/top/top_sample.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr const char* kStatsFile = ".gridfs/stats.json";

class MountTop final : public TopSource {
 public:
  explicit MountTop(std::filesystem::path file) : file_(std::move(file)) {}

  Result<TopSample> read() override {
    std::ifstream file(file_);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
      return fail(system::system_error(errno, "reading " + in_quotes(file_.string())));
    }
    TopSample sample;
    sample.at = std::chrono::steady_clock::now();
    GM_ASSIGN(const bson::Document stats, bson::document_from_json(std::move(text).str()));
    uint64_t failures = 0;
    for (const bson::Element each : document_in(stats, "operations")) {
      if (each.value.type() != bson::Type::kDocument) continue;
      const bson::View operation = each.value.as_document();
      failures += count_in(operation, "failures");
      sample.activities.push_back({std::string(each.key), count_in(operation, "count"),
                                   number_in(document_in(operation, "latencySeconds"), "total")});
    }
    sample.counters.push_back({"failures", failures});
    sample.state.push_back(counted(count_in(stats, "openFiles"), "open file"));
    sample.state.push_back(in_byte_units(count_in(stats, "uncommittedBytes")) + " not committed");
    // One of these operations is the read of stats.json.
    const uint64_t pending = std::max<uint64_t>(count_in(stats, "operationsInProgress"), 1);
    sample.state.push_back(counted(pending - 1, "operation") + " in progress");
    const bson::View store = document_in(stats, "store");
    if (!store.empty()) {
      sample.state.push_back(in_byte_units(count_in(store, "usedBytes")) + " used of " +
                             in_byte_units(count_in(store, "fileBytes")));
    }
    return sample;
  }

 private:
  const std::filesystem::path file_;
};

}  // namespace

std::unique_ptr<TopSource> top_of_mount(const std::filesystem::path& file) {
  return std::make_unique<MountTop>(file);
}

// stats.json of each bucket has the statistics of the whole mount.
std::filesystem::path stats_file_below(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / kStatsFile, ignored)) return folder / kStatsFile;
  // A range-based for would throw an exception if the folder cannot be read to its end.
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (std::filesystem::exists(entry->path() / kStatsFile, ignored)) {
      return entry->path() / kStatsFile;
    }
  }
  return {};
}

}  // namespace gridmount::tools
