#include "tools/gridfiles/opened_store.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "engine/mongo/mongo_store.h"
#include "tools/store_opening.h"

namespace gridmount::tools {

namespace {

constexpr const char* kApplication = "gridfiles";
constexpr const char* kSocketName = "gridmount.sock";

Result<OpenedStore> connect_to(const std::string& uri) {
  mongo::ConnectOptions options;
  options.uri = uri;
  options.application = kApplication;
  GM_ASSIGN(std::unique_ptr<engine::Store> store, mongo::connect(options));
  return OpenedStore{std::move(store), without_credentials(uri), false};
}

// Without echo as long as it lives.
class SilentTerminal {
 public:
  SilentTerminal() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (changed_) (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace

Result<std::string> ask_password() {
  const bool on_terminal = isatty(STDIN_FILENO) == 1;
  if (on_terminal) fputs("Enter password:\n", stderr);
  std::string password;
  {
    const SilentTerminal silent;
    // By single bytes: what follows the line is the file that `put --local -` reads.
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') password += byte;
  }
  if (password.ends_with('\r')) password.pop_back();
  if (password.empty()) return fail(ErrorCode::kFailedToParse, "no password was given");
  return password;
}

Result<OpenedStore> open_store_of(const Options& options, bool writes) {
  if (options.store.empty()) {
    ConnectionOptions connection = options.connection;
    if (connection.needs_password()) {
      GM_ASSIGN(std::string password, ask_password());
      connection.set_password(std::move(password));
    }
    GM_ASSIGN(const std::string uri, connection.uri());
    return connect_to(uri);
  }
  local::OpenOptions open_options;
  open_options.create = options.create;
  // Reading needs only the permission to read.
  open_options.read_only = !writes && !options.create;
  const std::filesystem::path socket = std::filesystem::absolute(options.store) / kSocketName;
  std::error_code error;
  const bool has_owner = std::filesystem::is_socket(socket, error);
  if (has_owner) {
    // Its owner may have died, or end just now: then the store is free, or soon will be.
    Result<OpenedStore> served = connect_to(uri_of_socket(socket.string()));
    if (served) return served;
  }
  auto store = open_store(options.store, open_options);
  if (!store) return fail(std::move(store).error());
  return OpenedStore{std::move(store).value(), options.store.string(), true};
}

}  // namespace gridmount::tools
