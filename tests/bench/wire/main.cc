// wire_bench: compares the wire protocol's server with a bare echo, and a driver's GridFS with the
// mount, in one run. See ../README.md.

#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "tests/bench/text_table.h"
#include "tests/bench/wire/echo.h"
#include "tests/bench/wire/process.h"
#include "tests/bench/wire/round_trips.h"
#include "tests/bench/wire/transfers.h"

namespace gridmount::bench {
namespace {

struct Arguments {
  RoundTripOptions trips;
  uint64_t file_mib = 256;
  uint64_t rounds = 3;
  std::string gridmount = GRIDMOUNT;
  std::filesystem::path temp;
  std::string json;
  bool check = false;
  std::string echo;  // if set, this process is the echo, on this socket
  uint32_t echo_bytes = 0;
};

// A mounted store. The store and the mount point are in a new folder, which the destructor removes.
class MountedStore {
 public:
  MountedStore(const std::filesystem::path& temp, const std::string& gridmount)
      : folder_(make_folder(temp)),
        daemon_({gridmount, "--foreground", "--create", store().string(), mount_point().string()},
                socket()) {}
  ~MountedStore() {
    daemon_.stop();
    std::error_code ignored;
    std::filesystem::remove_all(store(), ignored);
    std::filesystem::remove(mount_point(), ignored);  // fails while the store is mounted
    std::filesystem::remove_all(folder_ / "sockets", ignored);
    std::filesystem::remove(folder_, ignored);
  }
  MountedStore(const MountedStore&) = delete;
  MountedStore& operator=(const MountedStore&) = delete;

  std::filesystem::path store() const { return folder_ / "store"; }
  std::filesystem::path mount_point() const { return folder_ / "mount"; }
  std::filesystem::path socket() const { return store() / "gridmount.sock"; }
  std::filesystem::path sockets() const { return folder_ / "sockets"; }

 private:
  static std::filesystem::path make_folder(const std::filesystem::path& temp) {
    std::string pattern = (temp / "wire-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("no folder can be made in " + temp.string());
    }
    const std::filesystem::path folder = pattern;
    std::filesystem::create_directory(folder / "mount");
    std::filesystem::create_directory(folder / "sockets");
    return folder;
  }

  std::filesystem::path folder_;
  Process daemon_;
};

double sum(const std::vector<double>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Returns the median of the ratios of the slices or rounds, because other load disturbs some of
// them.
double ratio_of(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return median(ratios);
}

// Returns the microseconds that a client waits for a reply.
double wait_of(const RoundTrip& trip, const std::vector<double>& seconds) {
  return sum(seconds) * 1e6 * static_cast<double>(trip.clients) /
         static_cast<double>(trip.operations);
}

std::string goal(double figure, const char* pattern) {
  return figure > 0 ? format(pattern, figure) : "";
}

std::string table(const std::vector<RoundTrip>& trips) {
  Lines lines = {{"us for a round trip", "clients", "gridmount", "echo", "ratio", "goal",
                  "operations/s", "reply bytes"}};
  for (const RoundTrip& trip : trips) {
    lines.push_back({trip.row.label, std::to_string(trip.clients),
                     number(wait_of(trip, trip.server_seconds)),
                     number(wait_of(trip, trip.echo_seconds)),
                     format("%.2fx", ratio_of(trip.server_seconds, trip.echo_seconds)),
                     trip.clients == 1 ? goal(trip.row.ceiling, "<= %.1f") : "",
                     number(static_cast<double>(trip.operations) / sum(trip.server_seconds)),
                     number(static_cast<double>(trip.reply_bytes))});
  }
  return aligned(lines, 1);
}

std::string table(const std::vector<Transfer>& transfers, uint64_t file_mib) {
  Lines lines = {{"MiB/s", "driver", "mount", "ratio", "goal"}};
  const auto mib = static_cast<double>(file_mib);
  for (const Transfer& transfer : transfers) {
    lines.push_back({transfer.label, number(mib / median(transfer.driver_seconds)),
                     number(mib / median(transfer.mount_seconds)),
                     format("%.2fx", ratio_of(transfer.mount_seconds, transfer.driver_seconds)),
                     goal(transfer.floor, ">= %.1f")});
  }
  return aligned(lines, 1);
}

void write_json(const Arguments& arguments, const std::vector<RoundTrip>& trips,
                const std::vector<Transfer>& transfers) {
  if (arguments.json.empty()) return;
  bson::Builder out;
  out.open_array("round_trips");
  for (const RoundTrip& trip : trips) {
    out.push_open_document().append("key", trip.row.key);
    out.append("clients", static_cast<int64_t>(trip.clients));
    out.append("operations", static_cast<int64_t>(trip.operations));
    out.append("gridmount_us", wait_of(trip, trip.server_seconds));
    out.append("echo_us", wait_of(trip, trip.echo_seconds));
    out.append("ratio", ratio_of(trip.server_seconds, trip.echo_seconds)).close();
  }
  out.close().open_array("transfers");
  const auto mib = static_cast<double>(arguments.file_mib);
  for (const Transfer& transfer : transfers) {
    out.push_open_document().append("key", transfer.key);
    out.append("driver_mib_s", mib / median(transfer.driver_seconds));
    out.append("mount_mib_s", mib / median(transfer.mount_seconds));
    out.append("ratio", ratio_of(transfer.mount_seconds, transfer.driver_seconds)).close();
  }
  out.close();
  std::ofstream file(arguments.json);
  file << bson::to_json(std::move(out).finish(), bson::JsonForm::kRelaxed) << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + arguments.json);
}

bool all_reached(const std::vector<RoundTrip>& trips, const std::vector<Transfer>& transfers) {
  bool reached = true;
  for (const RoundTrip& trip : trips) {
    const bool counts = trip.clients == 1 && trip.row.ceiling > 0;
    reached &= !counts || ratio_of(trip.server_seconds, trip.echo_seconds) <= trip.row.ceiling;
  }
  for (const Transfer& transfer : transfers) {
    reached &= ratio_of(transfer.mount_seconds, transfer.driver_seconds) >= transfer.floor;
  }
  return reached;
}

int execute(Arguments arguments) {
  const MountedStore store(arguments.temp, arguments.gridmount);
  arguments.trips.server = store.socket();
  const std::vector<RoundTrip> trips = measure_round_trips(arguments.trips, store.sockets());
  TransferOptions transfer;
  transfer.file_bytes = arguments.file_mib << 20;
  transfer.rounds = arguments.rounds;
  transfer.socket = store.socket();
  transfer.bucket_folder = store.mount_point() / "fs";
  const std::vector<Transfer> transfers = measure_transfers(transfer);

  utsname system{};
  ::uname(&system);
  std::cout << "Linux " << system.release << ", " << std::thread::hardware_concurrency()
            << " CPUs; " << arguments.trips.sizes.documents << " documents, "
            << arguments.trips.slices << " slices; a file of " << arguments.file_mib << " MiB, "
            << arguments.rounds << " rounds\n\n"
            << table(trips) << "\n"
            << table(transfers, arguments.file_mib);
  write_json(arguments, trips, transfers);
  return arguments.check && !all_reached(trips, transfers) ? 1 : 0;
}

int main(int argc, char** argv) {
  Arguments arguments;
  WireSizes& sizes = arguments.trips.sizes;
  sizes = {.documents = 100'000, .operations = 50'000};
  const char* const tmpdir = std::getenv("TMPDIR");
  arguments.temp = tmpdir == nullptr ? "/tmp" : tmpdir;
  arguments.trips.self = std::filesystem::read_symlink("/proc/self/exe").string();

  CLI::App app(
      "Measures the wire protocol's server beside a bare echo of the same bytes, and a "
      "driver's GridFS beside the mount, in one run.",
      "wire_bench");
  app.option_defaults()->always_capture_default();
  app.add_option("--documents", sizes.documents, "in the collection that is read and updated")
      ->check(CLI::Range(uint64_t{200}, uint64_t{100'000'000}));
  app.add_option("--operations", sizes.operations, "a row of single documents")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}));
  app.add_option("--clients", arguments.trips.clients, "that ask at the same time, each by turns")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000));
  app.add_option("--slices", arguments.trips.slices, "a row is measured in, by turns")
      ->check(CLI::Range(1, 1000));
  app.add_option("--file-mib", arguments.file_mib, "size of the file")->check(CLI::Range(1, 65536));
  app.add_option("--rounds", arguments.rounds, "of the file")->check(CLI::Range(1, 100));
  app.add_option("--gridmount", arguments.gridmount, "the daemon to measure")
      ->check(CLI::ExistingFile);
  app.add_option("--temp", arguments.temp, "folder on the disk to measure")
      ->check(CLI::ExistingDirectory);
  app.add_option("--json", arguments.json, "write all figures to this file");
  app.add_flag("--check", arguments.check, "exit status 1 if a goal is missed");
  app.add_option("--echo", arguments.echo)->group("");
  app.add_option("--echo-bytes", arguments.echo_bytes)->group("");
  CLI11_PARSE(app, argc, argv);

  try {
    if (arguments.echo.empty()) return execute(arguments);
    run_echo(arguments.echo, arguments.echo_bytes);
  } catch (const std::exception& error) {
    std::cerr << "wire_bench: " << error.what() << "\n";
  }
  return 1;
}

}  // namespace
}  // namespace gridmount::bench

int main(int argc, char** argv) {
  return gridmount::bench::main(argc, argv);
}
