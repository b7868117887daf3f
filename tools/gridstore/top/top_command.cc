#include "tools/gridstore/top/top_command.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command_line/connection_string.h"
#include "command_line/store_opening.h"
#include "engine/bson/json.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"
#include "tools/gridstore/top/key_terminal.h"
#include "tools/gridstore/top/top_sample.h"
#include "tools/gridstore/top/top_screen.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr double kIntervalSecondsMin = 0.1;
constexpr double kIntervalSecondsMax = 3600;
constexpr const char* kKeys = "b busy  r rate  l latency  n name  q quit";

struct TopOptions {
  StoreArgument store;
  double interval_seconds = 2;
  uint64_t count = 0;  // 0: no end
  std::string order = "busy";
  bool json = false;
};

std::atomic<bool> is_ended = false;
static_assert(std::atomic<bool>::is_always_lock_free, "it is set in a signal handler");

void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_ended = true; };
  sigemptyset(&action.sa_mask);
  // SA_RESTART is not set, so a signal ends the waiting. A second signal of the same kind ends the
  // process.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

TopOrder order_of(const std::string& name) {
  if (name == "rate") return TopOrder::kRate;
  if (name == "latency") return TopOrder::kLatency;
  if (name == "name") return TopOrder::kName;
  return TopOrder::kBusy;
}

// Returns a source for a deployment, for the owner of a store, or for a mount.
Result<std::unique_ptr<TopSource>> open_source(const StoreArgument& argument) {
  GM_TRY(check_fits(argument));
  if (argument.is_deployment()) {
    GM_ASSIGN(const mongo::ConnectOptions how, connect_options(argument));
    return top_of_server(how);
  }
  const std::filesystem::path stats = stats_file_below(argument.folder());
  if (!stats.empty()) return top_of_mount(stats);
  if (command_line::is_socket_missing(argument.folder())) {
    return fail(ErrorCode::kNonExistentPath,
                in_quotes(argument.text) +
                    " is not a mount, and no process answers there; top shows what a mount, or a "
                    "process that uses a store, does");
  }
  mongo::ConnectOptions how;
  how.uri = command_line::uri_of_socket(command_line::socket_path(argument.folder()).string());
  how.application = "gridstore";
  return top_of_server(how);
}

class Top {
 public:
  Top(const TopOptions& options, TopSource& source)
      : options_(options), source_(source), order_(order_of(options.order)) {}

  Status run() {
    GM_ASSIGN(before_, source_.read());
    std::optional<KeyTerminal> terminal;
    if (!options_.json && KeyTerminal::is_there()) terminal.emplace();
    if (terminal) terminal->draw(options_.store.shown() + "\n");
    for (uint64_t shown = 0; !is_ended; ++shown) {
      if (options_.count > 0 && shown == options_.count) return {};
      if (!wait(terminal)) return {};
      GM_ASSIGN(TopSample now, source_.read());
      show(terminal, now);
      before_ = std::move(now);
    }
    return {};
  }

 private:
  // Waits for the interval and obeys keys. Returns false if the user or a signal ends the program.
  bool wait(std::optional<KeyTerminal>& terminal) {
    using Clock = std::chrono::steady_clock;
    const auto end =
        Clock::now() + std::chrono::milliseconds(std::llround(options_.interval_seconds * 1000));
    while (!is_ended) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) return true;
      const std::optional<char> key = wait_for_key(left, terminal.has_value());
      if (!key) continue;
      if (*key == 'q') return false;
      if (*key == 'b') order_ = TopOrder::kBusy;
      if (*key == 'r') order_ = TopOrder::kRate;
      if (*key == 'l') order_ = TopOrder::kLatency;
      if (*key == 'n') order_ = TopOrder::kName;
    }
    return false;
  }

  void show(std::optional<KeyTerminal>& terminal, const TopSample& now) {
    if (options_.json) {
      const bson::Document document = top_document(before_, now, order_);
      puts(bson::to_json(document, bson::JsonForm::kRelaxed).c_str());
    } else {
      const std::string title =
          options_.store.shown() + (terminal ? std::string("   ") + kKeys : std::string());
      TopScreen screen{title, order_};
      if (terminal) {
        screen.columns = terminal->columns();
        screen.lines = terminal->lines();
        return terminal->draw(top_text(screen, before_, now));
      }
      puts(top_text(screen, before_, now).c_str());
    }
    fflush(stdout);
  }

  const TopOptions& options_;
  TopSource& source_;
  TopOrder order_;
  TopSample before_;
};

ExitStatus run_top(const TopOptions& options) {
  const auto source = open_source(options.store);
  if (!source) return print_error(source.error());
  end_on_signals();
  const Status done = Top(options, **source).run();
  return done ? ExitStatus::kOk : print_error(done.error());
}

}  // namespace

Subcommand add_top(CLI::App& app) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* const command = app.add_subcommand(
      "top",
      "Shows live what a mount or a server does: how often, how long, and for which clients");
  add_store_or_deployment(*command, options->store);
  command->get_option("STORE")->description(
      "a mount, a store's folder that a process uses, or a connection string");
  command->add_option("--interval", options->interval_seconds, "the time between two tables")
      ->type_name("SECONDS")
      ->check(CLI::Range(kIntervalSecondsMin, kIntervalSecondsMax).description(""))
      ->default_str("2");
  command->add_option("--count", options->count, "end after N tables; default: until q or a signal")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command
      ->add_option(
          "--sort", options->order,
          "busy (the default), rate, latency or name; on a terminal the keys b, r, l and n "
          "change it")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"busy", "rate", "latency", "name"}).description(""));
  command->add_flag("--json", options->json, "a line of JSON for each table");
  return {command, [options] { return run_top(*options); },
          R"(  gridstore top ~/media
  gridstore top mongodb://localhost --interval 10 --json
)"};
}

}  // namespace gridmount::tools
