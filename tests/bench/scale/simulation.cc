#include "tests/bench/scale/simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <queue>
#include <random>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace gridmount::bench {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kMillisecond = 1e-3;
constexpr double kMicrosecond = 1e-6;
// The share of operations that are not counted, because the queues are still filling.
constexpr double kWarmUpPart = 0.2;
constexpr double kLatePart = 0.99;

// A function that is called when a step has ended. Copies share the function, because a chain of
// steps copies it often.
class Then {
 public:
  template <typename Call>
  requires(!std::is_same_v<std::remove_cvref_t<Call>, Then>) Then(Call&& call)
      : call_(std::make_shared<const std::function<void()>>(std::forward<Call>(call))) {}
  void operator()() const { (*call_)(); }

 private:
  std::shared_ptr<const std::function<void()>> call_;
};

// Events in the order of their times, and in the order of at() among equal times.
class Clock {
 public:
  double now() const { return now_; }
  void at(double time, Then then) { events_.push({time, number_++, std::move(then)}); }
  void after(double seconds, Then then) { at(now_ + seconds, std::move(then)); }
  bool step() {
    if (events_.empty()) return false;
    const Event next = events_.top();
    events_.pop();
    now_ = next.time;
    next.then();
    return true;
  }

 private:
  struct Event {
    double time;
    uint64_t number;
    Then then;
    bool operator<(const Event& other) const {
      return std::pair(other.time, other.number) < std::pair(time, number);
    }
  };
  double now_ = 0;
  uint64_t number_ = 0;
  std::priority_queue<Event> events_;
};

// Serves `width` customers at a time. The others wait in order.
class Queue {
 public:
  Queue(Clock& clock, int width) : clock_(&clock), width_(width), free_(width) {}

  void enter(Then then) {
    if (free_ == 0) {
      waiting_.push_back(std::move(then));
      return;
    }
    count();
    --free_;
    then();
  }
  void leave() {
    count();
    if (waiting_.empty()) {
      ++free_;
      return;
    }
    Then next = std::move(waiting_.front());
    waiting_.pop_front();
    clock_->after(0, std::move(next));
  }
  void use(double seconds, Then then) {
    enter([this, seconds, then = std::move(then)] {
      clock_->after(seconds, [this, then] {
        leave();
        then();
      });
    });
  }
  void reset() {
    count();
    busy_ = 0;
    begin_ = clock_->now();
  }
  double busy() {
    count();
    const double passed = (clock_->now() - begin_) * width_;
    return passed > 0 ? busy_ / passed : 0;
  }

 private:
  void count() {
    busy_ += (width_ - free_) * (clock_->now() - counted_);
    counted_ = clock_->now();
  }

  Clock* clock_;
  int width_;
  int free_;
  std::deque<Then> waiting_;
  double busy_ = 0;
  double counted_ = 0;
  double begin_ = 0;
};

struct Shard {
  Queue processors;
  Queue link;
};

struct Mount {
  Queue transactions;
  std::vector<Queue> directories;
};

// One command on its way: the shards that it goes to and what it costs each.
struct Sent {
  std::vector<int> shards;
  double cpu_s = 0;
  double bytes = 0;
  bool writes = false;
};

struct Transaction {
  std::vector<Sent> commands;
  bool changes_names = false;
};

// The shards that one operation concerns.
struct Places {
  int primary = 0;    // of the database
  int file = 0;       // of the file's content
  int directory = 0;  // of the names in the directory
  int parent = 0;     // of the directory's own document
};

class Simulation {
 public:
  Simulation(const Costs& costs, const Cluster& cluster, const Load& load)
      : costs_(costs), cluster_(cluster), load_(load), random_(load.seed) {
    for (int shard = 0; shard < cluster.shards; ++shard) {
      shards_.push_back({Queue(clock_, cluster.cores), Queue(clock_, 1)});
    }
    for (int mount = 0; mount < load.mounts; ++mount) {
      mounts_.push_back({Queue(clock_, 1), {}});
      const int directories = load.shared_directory ? 0 : load.directories;
      mounts_.back().directories.assign(static_cast<size_t>(directories), Queue(clock_, 1));
    }
    for (const auto& [name, weight] : load.weights) {
      names_.push_back(name);
      weights_.push_back(weight);
    }
    choice_ = std::discrete_distribution<size_t>(weights_.begin(), weights_.end());
  }

  Outcome run() {
    for (int mount = 0; mount < load_.mounts; ++mount) {
      for (int program = 0; program < load_.programs; ++program) think(mount);
    }
    const int programs = load_.mounts * load_.programs;
    const int all = std::max(load_.operations, 4 * programs);
    warm_up_ = static_cast<int>(all * kWarmUpPart);
    while (done_ < all && clock_.step()) {
    }
    return outcome();
  }

 private:
  int any_shard() { return std::uniform_int_distribution<int>(0, cluster_.shards - 1)(random_); }
  double exponential(double mean) {
    return mean <= 0 ? 0 : std::exponential_distribution<double>(1 / mean)(random_);
  }

  void think(int mount) {
    clock_.after(exponential(load_.think_ms * kMillisecond), [this, mount] { begin(mount); });
  }

  // --- Where commands go.

  Places places(int mount) {
    Places places;
    if (cluster_.layout == Layout::kDatabases) places.primary = mount % cluster_.shards;
    places.file = any_shard();
    places.directory = any_shard();
    places.parent = any_shard();
    return places;
  }

  std::vector<int> all_shards() const {
    std::vector<int> all(static_cast<size_t>(cluster_.shards));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  std::vector<int> shards_of(const CommandCost& command, const Places& places, int number) const {
    if (command.collection == "chunks") return {places.file};
    switch (cluster_.layout) {
      case Layout::kPrimary:
      case Layout::kDatabases:
        return {places.primary};
      case Layout::kById:
        if (command.collection != "files") return {places.primary};
        if (command.filter.starts_with("filename")) return all_shards();
        return {places.file};
      case Layout::kByName:
        break;
    }
    if (command.collection != "directories") return {places.directory};
    // In a transaction, every second command on `directories` concerns the directory that changes.
    const bool own = command.command == "update" || (command.in_transaction && number % 2 == 0);
    return {own ? places.parent : places.directory};
  }

  // If a command goes to several shards, each of them pays for a search that finds nothing. The
  // rest of the cost is divided among them.
  Sent sent(const CommandCost& command, std::vector<int> shards, double bytes) const {
    Sent one;
    one.writes =
        command.command == "insert" || command.command == "update" || command.command == "delete";
    double cost = command.server_us;
    if (shards.size() > 1) {
      const double least = std::min(cost, search_us());
      cost = least + (cost - least) / static_cast<double>(shards.size());
    }
    one.cpu_s = cost * kMicrosecond;
    one.bytes = bytes / static_cast<double>(shards.size());
    one.shards = std::move(shards);
    return one;
  }

  double search_us() const {
    for (const CommandCost& each : costs_.operation("lookup-nothing").commands) {
      if (each.collection == "files") return each.server_us;
    }
    return 0;
  }

  // --- Operations.

  // The operation's commands: those outside of transactions, then its transactions. If an operation
  // commits only every few times, the plan has as many operations as one commit needs.
  struct Plan {
    std::vector<Sent> reads;
    std::vector<Transaction> transactions;
    double mount_s = 0;
    int operations = 1;
  };

  Plan plan(const std::string& name, int mount) {
    const OperationCost& cost = costs_.operation(name);
    const double commits = cost.commits();
    Plan plan;
    if (commits > 0 && commits < 0.75) plan.operations = static_cast<int>(std::lround(1 / commits));
    plan.mount_s = cost.mount_us * kMicrosecond * plan.operations;
    const Places at = places(mount);
    double all = 0;
    for (const CommandCost& each : cost.commands) all += is_content(each) ? each.count : 0;
    const double bytes = cost.bytes_in + cost.bytes_out;
    // If the operation commits more than once, it has one transaction for names and one for
    // content.
    Transaction names;
    Transaction content;
    for (const CommandCost& each : cost.commands) {
      if (each.command == "commit") continue;
      // Most bytes are content, if there is any.
      const double share =
          all > 0 ? (is_content(each) ? bytes / all : 0) : bytes / commands_of(cost);
      for (int number = 0; number < drawn(each.count * plan.operations); ++number) {
        Sent one = sent(each, shards_of(each, at, number), share);
        if (!each.in_transaction) {
          plan.reads.push_back(std::move(one));
        } else if (commits > 1.5 && belongs_to_content(each)) {
          content.commands.push_back(std::move(one));
        } else {
          names.changes_names |= each.collection == "directories" && each.command == "update";
          names.commands.push_back(std::move(one));
        }
      }
    }
    for (Transaction* each : {&names, &content}) {
      if (!each->commands.empty()) plan.transactions.push_back(std::move(*each));
    }
    return plan;
  }

  static bool is_content(const CommandCost& command) {
    return command.collection == "chunks" || command.command == "getMore";
  }
  static bool belongs_to_content(const CommandCost& command) {
    return command.collection == "chunks" || command.collection == "detached" ||
           (command.collection == "files" && command.filter == "_id:equal" &&
            command.command != "delete");
  }
  static double commands_of(const OperationCost& cost) {
    double commands = 0;
    for (const CommandCost& each : cost.commands) commands += each.count;
    return std::max(commands, 1.0);
  }
  // Returns a random whole number whose mean is `count`.
  int drawn(double count) {
    const double whole = std::floor(count);
    const double part = std::uniform_real_distribution<double>(0, 1)(random_);
    return static_cast<int>(whole) + (part < count - whole ? 1 : 0);
  }

  void begin(int mount) {
    auto plan = std::make_shared<Plan>(this->plan(names_[choice_(random_)], mount));
    const double start = clock_.now();
    clock_.after(plan->mount_s, [this, mount, start, plan] {
      send_all(plan->reads, 0, [this, mount, start, plan] {
        run_transactions(mount, plan, 0, [this, mount, start, plan] {
          finish(plan->operations, start);
          think(mount);
        });
      });
    });
  }

  void run_transactions(int mount, const std::shared_ptr<Plan>& plan, size_t index, Then then) {
    if (index == plan->transactions.size()) return then();
    const Transaction& transaction = plan->transactions[index];
    Queue& own = mounts_[static_cast<size_t>(mount)].transactions;
    Queue* const directory = transaction.changes_names ? &directory_of(mount) : nullptr;
    own.enter([this, mount, plan, index, &transaction, &own, directory, then = std::move(then)] {
      const Then work = [this, mount, plan, index, &transaction, &own, directory, then] {
        send_all(transaction.commands, 0,
                 [this, mount, plan, index, &transaction, &own, directory, then] {
                   commit(transaction, [this, mount, plan, index, &own, directory, then] {
                     if (directory != nullptr) directory->leave();
                     own.leave();
                     run_transactions(mount, plan, index + 1, then);
                   });
                 });
      };
      directory != nullptr ? directory->enter(work) : work();
    });
  }

  Queue& directory_of(int mount) {
    if (load_.shared_directory) return shared_;
    std::vector<Queue>& own = mounts_[static_cast<size_t>(mount)].directories;
    return own[std::uniform_int_distribution<size_t>(0, own.size() - 1)(random_)];
  }

  // Sends the commands one after the other.
  void send_all(const std::vector<Sent>& commands, size_t index, Then then) {
    if (index == commands.size()) return then();
    send(commands[index],
         [this, &commands, index, then = std::move(then)] { send_all(commands, index + 1, then); });
  }

  // Sends the command to all of its shards at once. Calls `then` when the last shard has answered.
  void send(const Sent& command, Then then) {
    auto left = std::make_shared<size_t>(command.shards.size());
    const Then answered = [left, then = std::move(then)] {
      if (--*left == 0) then();
    };
    for (const int number : command.shards) {
      Shard& shard = shards_[static_cast<size_t>(number)];
      const double link_s = command.bytes / (cluster_.link_mib_s * kMebibyte);
      clock_.after(half_trip(), [this, &shard, cpu_s = command.cpu_s, link_s, answered] {
        shard.processors.use(cpu_s, [this, &shard, link_s, answered] {
          shard.link.use(link_s, [this, answered] { clock_.after(half_trip(), answered); });
        });
      });
    }
  }

  double half_trip() const { return cluster_.round_trip_ms * kMillisecond / 2; }

  // Source: MongoDB's two-phase commit. If only one shard was written to, it commits alone, after
  // the shards that were only read. Several written shards have a coordinator. The coordinator
  // stores the list of participants, lets all of them prepare, stores the decision and answers.
  // Then all commit.
  void commit(const Transaction& transaction, Then then) {
    std::set<int> taking_part;
    std::set<int> written;
    for (const Sent& each : transaction.commands) {
      taking_part.insert(each.shards.begin(), each.shards.end());
      if (each.writes) written.insert(each.shards.begin(), each.shards.end());
    }
    const double majority = cluster_.majority_ms * kMillisecond;
    if (written.size() <= 1) {
      const int at = written.empty() ? *taking_part.begin() : *written.begin();
      std::vector<int> read(taking_part.begin(), taking_part.end());
      std::erase(read, at);
      const Sent last{{at}, costs_.step("commit") * kMicrosecond, 0, true};
      const Then end = [this, last, majority, then = std::move(then)] {
        send(last, [this, majority, then] { clock_.after(majority, then); });
      };
      if (read.empty()) return end();
      return send({read, search_us() * kMicrosecond, 0, false}, end);
    }
    const double coordinate = costs_.step("coordinate") * kMicrosecond;
    const double prepare = costs_.step("prepare-and-commit") * kMicrosecond;
    const std::vector<int> all(taking_part.begin(), taking_part.end());
    send({{*written.begin()}, coordinate, 0, true}, [this, all, prepare, majority,
                                                     then = std::move(then)] {
      clock_.after(majority, [this, all, prepare, majority, then] {
        send({all, prepare, 0, true}, [this, majority, then] { clock_.after(2 * majority, then); });
      });
    });
  }

  // --- Counting.

  void finish(int operations, double start) {
    done_ += operations;
    if (!counting_ && done_ >= warm_up_) {
      counting_ = true;
      counted_from_ = clock_.now();
      for (Shard& shard : shards_) {
        shard.processors.reset();
        shard.link.reset();
      }
      for (Mount& mount : mounts_) {
        mount.transactions.reset();
        for (Queue& directory : mount.directories) directory.reset();
      }
      shared_.reset();
      return;
    }
    if (!counting_) return;
    counted_ += operations;
    times_.push_back(clock_.now() - start);
  }

  Outcome outcome() {
    Outcome outcome;
    const double passed = clock_.now() - counted_from_;
    if (times_.empty() || passed <= 0) throw std::runtime_error("too few operations");
    outcome.operations_s = counted_ / passed;
    outcome.mean_ms = std::accumulate(times_.begin(), times_.end(), 0.0) /
                      static_cast<double>(times_.size()) / kMillisecond;
    const auto late =
        times_.begin() + static_cast<ptrdiff_t>(kLatePart * static_cast<double>(times_.size() - 1));
    std::nth_element(times_.begin(), late, times_.end());
    outcome.late_ms = *late / kMillisecond;
    for (size_t shard = 0; shard < shards_.size(); ++shard) {
      const std::string name = "shard " + std::to_string(shard);
      outcome.busy[name + " CPU"] = shards_[shard].processors.busy();
      outcome.busy[name + " link"] = shards_[shard].link.busy();
    }
    double queues = 0;
    double directories = 0;
    for (Mount& mount : mounts_) {
      queues += mount.transactions.busy() / load_.mounts;
      for (Queue& directory : mount.directories) {
        directories += directory.busy() / (load_.mounts * load_.directories);
      }
    }
    outcome.busy["mounts' queues"] = queues;
    outcome.busy["directories"] = directories;
    outcome.busy["the directory"] = shared_.busy();
    return outcome;
  }

  const Costs& costs_;
  const Cluster& cluster_;
  const Load& load_;
  std::mt19937_64 random_;
  Clock clock_;
  std::vector<Shard> shards_;
  std::vector<Mount> mounts_;
  Queue shared_{clock_, 1};
  std::vector<std::string> names_;
  std::vector<double> weights_;
  std::discrete_distribution<size_t> choice_;
  int done_ = 0;
  int warm_up_ = 0;
  bool counting_ = false;
  double counted_from_ = 0;
  double counted_ = 0;
  std::vector<double> times_;
};

}  // namespace

Outcome simulate(const Costs& costs, const Cluster& cluster, const Load& load) {
  return Simulation(costs, cluster, load).run();
}

}  // namespace gridmount::bench
