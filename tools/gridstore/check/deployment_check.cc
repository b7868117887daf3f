#include "tools/gridstore/check/deployment_check.h"

#include <chrono>
#include <memory>
#include <utility>

#include "tools/gridstore/message.h"
#include "tools/gridstore/repair/keep_folder.h"
#include "tools/gridstore/repair/store_repair.h"

namespace gridmount::tools {

namespace {

// The deployment's servers read the pages, so a damaged page does not end this process.
class NoWhereabouts : public Whereabouts {
 public:
  void at(std::string_view /*place*/) override {}
};

Status repair(const CheckOptions& options, engine::Store& store, KeepFolder& keep,
              Findings& findings) {
  NoWhereabouts whereabouts;
  std::vector<std::string> databases;
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store.snapshot());
    GM_ASSIGN(databases, databases_of(options, store, *snapshot));
  }
  RepairContext context{store, keep, findings, std::chrono::seconds(options.grace_seconds)};
  GM_TRY(repair_content(context, databases, whereabouts));
  return finish_repair(context);
}

Status check_and_repair(CheckOptions& options, Findings& findings) {
  local::OpenOptions open_options;
  open_options.read_only = !options.repair;
  GM_ASSIGN(const StoreInUse opened, open_argument(options.store, open_options));
  GM_ASSIGN(options.database, selected_database(opened.database, options.database));
  if (options.repair) {
    if (options.database.empty()) {
      return fail(ErrorCode::kBadValue,
                  "a repair works on one database: name it in the connection string, or by --db");
    }
    KeepFolder keep(options.keep.empty() ? std::filesystem::absolute("gridstore" + removed_suffix())
                                         : options.keep);
    GM_TRY(keep.check_free());
    GM_TRY(repair(options, *opened.store, keep, findings));
  }
  Progress progress("documents");
  findings.show(&progress);
  NoWhereabouts whereabouts;
  const Status checked =
      check_content(options, *opened.store, /*in_use=*/true, findings, whereabouts);
  findings.show(nullptr);
  return checked;
}

}  // namespace

ExitStatus check_deployment(CheckOptions options) {
  Findings findings(format_of(options));
  const Status done = check_and_repair(options, findings);
  if (!done) {
    print_message(done.error().message());
    return exit_status_of(done.error().code());
  }
  findings.print_summary(nullptr);
  return findings.exit_status();
}

}  // namespace gridmount::tools
