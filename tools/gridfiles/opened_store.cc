#include "tools/gridfiles/opened_store.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "command_line/connection_string.h"
#include "command_line/password.h"
#include "command_line/store_opening.h"
#include "engine/mongo/mongo_store.h"
#include "engine/wire/server/socket_name.h"

namespace gridmount::tools {

namespace {

constexpr const char* kApplication = "gridfiles";

Result<OpenedStore> connect_to(const std::string& uri) {
  mongo::ConnectOptions options;
  options.uri = uri;
  options.application = kApplication;
  options.reads_by_preference = true;
  GM_ASSIGN(std::unique_ptr<engine::Store> store, mongo::connect(options));
  return OpenedStore{std::move(store), command_line::without_secrets(uri), false};
}

// Returns false if the socket is missing, or if the store's owner has died and left the socket.
// libmongoc would wait for that owner until the server selection timeout.
bool may_be_served(const std::filesystem::path& store) {
  // Uses the folder's descriptor, because the path may be too long for a socket address.
  const int folder = open(store.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder,
                 wire::kSocketName);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_answered =
      connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const bool is_absent = !is_answered && (errno == ECONNREFUSED || errno == ENOENT);
  close(socket);
  close(folder);
  return !is_absent;
}

}  // namespace

Result<OpenedStore> open_store_of(const Options& options, bool writes) {
  if (options.store.empty()) {
    ConnectionOptions connection = options.connection;
    if (connection.needs_password()) {
      GM_ASSIGN(std::string password, command_line::ask_password());
      connection.set_password(std::move(password));
    }
    GM_ASSIGN(const std::string uri, connection.uri());
    return connect_to(uri);
  }
  local::OpenOptions open_options;
  open_options.create = options.create;
  // A command that only reads needs only read permission.
  open_options.read_only = !writes && !options.create;
  const std::string socket = command_line::socket_path(options.store).string();
  if (may_be_served(options.store)) {
    // If the connection fails, the owner may be about to end. The store will then soon be free.
    Result<OpenedStore> served = connect_to(command_line::uri_of_socket(socket));
    if (served) return served;
  }
  auto store = command_line::open_store(options.store, open_options);
  if (!store && store.error().code() == ErrorCode::kStoreLocked && may_be_served(options.store)) {
    // The owner had not yet begun to listen at the first attempt.
    return connect_to(command_line::uri_of_socket(socket));
  }
  if (!store) {
    if (store.error().code() == ErrorCode::kStoreLocked &&
        command_line::is_socket_path_taken(options.store)) {
      return fail(ErrorCode::kStoreLocked, store.error().message() +
                                               "; its owner cannot be reached either, because a "
                                               "file that is not a socket has the path " +
                                               socket);
    }
    if (store.error().code() == ErrorCode::kStoreLocked &&
        command_line::is_socket_missing(options.store)) {
      return fail(ErrorCode::kStoreLocked,
                  store.error().message() +
                      "; its owner cannot be reached either, because there is no socket " +
                      std::string(wire::kSocketName) + " (see the log of the owner)");
    }
    return fail(std::move(store).error());
  }
  return OpenedStore{std::move(store).value(), options.store.string(), true};
}

}  // namespace gridmount::tools
