#include "tools/gridstore/guarded_run.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/gridstore/message.h"

namespace gridmount::tools {

namespace {

constexpr size_t kPlaceBytes = 1024;

// The place, in memory that both processes share. The text ends at its first NUL.
class SharedPlace : public Whereabouts {
 public:
  SharedPlace() {
    void* const page =
        ::mmap(nullptr, kPlaceBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) text_ = static_cast<char*>(page);
  }
  ~SharedPlace() override {
    if (text_ != nullptr) ::munmap(text_, kPlaceBytes);
  }
  SharedPlace(const SharedPlace&) = delete;
  SharedPlace& operator=(const SharedPlace&) = delete;

  void at(std::string_view place) override {
    if (text_ == nullptr) return;
    const size_t size = std::min(place.size(), kPlaceBytes - 1);
    std::memcpy(text_, place.data(), size);
    text_[size] = '\0';
  }
  std::string text() const { return text_ == nullptr ? std::string() : std::string(text_); }

 private:
  char* text_ = nullptr;
};

[[noreturn]] void run_in_child(const std::function<ExitStatus(Whereabouts&)>& work,
                               Whereabouts& place, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the call above.
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitStatus::kFailure));
  // A core dump would contain the mapped store, and would not help to find a fault of the program.
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // Makes findings visible at once, however the child ends.
  ::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const ExitStatus status = after_flush(work(place));
  ::_exit(static_cast<int>(status));
}

// Returns true for the signals that a damaged page can cause: a read outside the mapping, a failed
// assertion, or a division by a damaged number. Others come from outside, as the SIGKILL of the
// kernel when memory runs out.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGFPE;
}

}  // namespace

ExitStatus run_guarded(
    const std::function<ExitStatus(Whereabouts&)>& work,
    const std::function<ExitStatus(const std::string& signal, const std::string& place)>& crashed) {
  fflush(stdout);
  SharedPlace place;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) run_in_child(work, place, parent);
  if (child < 0) {
    fprintf(stderr, "gridstore: starting a process: %s\n", std::strerror(errno));
    return ExitStatus::kFailure;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return ExitStatus::kFailure;
  }
  if (WIFEXITED(status)) return static_cast<ExitStatus>(WEXITSTATUS(status));
  const std::string signal = ::strsignal(WTERMSIG(status));
  if (is_crash(WTERMSIG(status))) return crashed(signal, place.text());
  const std::string reading = place.text().empty() ? "the store" : place.text();
  print_message("reading " + reading + " was ended from outside with a signal (" + signal + ")");
  return ExitStatus::kFailure;
}

ExitStatus after_flush(ExitStatus status) {
  if (fflush(stdout) == 0 && ferror(stdout) == 0) return status;
  print_message("stdout could not be written; lines are missing from it");
  return status == ExitStatus::kOk ? ExitStatus::kFailure : status;
}

}  // namespace gridmount::tools
