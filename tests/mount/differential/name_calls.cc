// Calls that make, move and remove names.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

ino_t node_at(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

Step make_folder(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kNothing);
  const mode_t mode = chance.mode();
  return {.text = call_text("mkdir", shown(path), octal(mode)),
          .actor = chance.actor(),
          .run = [=](Side&) { return outcome_of(::mkdir(path.c_str(), mode)); },
          .paths = {path}};
}

Step remove_folder(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kFolder);
  return {.text = call_text("rmdir", shown(path)),
          .actor = chance.actor(),
          .run = [=](Side&) { return outcome_of(::rmdir(path.c_str())); },
          .paths = {path}};
}

Step remove_file(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, chance.one_in(3) ? Wish::kLink : Wish::kFile);
  return {.text = call_text("unlink", shown(path)),
          .actor = chance.actor(),
          .run = [=](Side&) { return outcome_of(::unlink(path.c_str())); },
          .paths = {path}};
}

Step rename_with(Chance& chance, std::string from, std::string to, unsigned flags) {
  return {.text = call_text(
              "renameat2", shown(from), shown(to),
              flags_text(static_cast<int>(flags), {{RENAME_NOREPLACE, "RENAME_NOREPLACE"},
                                                   {RENAME_EXCHANGE, "RENAME_EXCHANGE"}})),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                const ino_t node = node_at(from);
                const ino_t other = node_at(to);
                Outcome outcome =
                    outcome_of(::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags));
                if (outcome.error != 0) return outcome;
                // A process that has the node open, or remembers its ino, must still find the same
                // node.
                if (node_at(to) != node) return broken_rule("another node than was renamed");
                if ((flags & RENAME_EXCHANGE) != 0 && node_at(from) != other) {
                  return broken_rule("another node than was exchanged");
                }
                return outcome;
              },
          .paths = {from, to}};
}

// Uses only short paths: see Chance::short_path.
Step rename(Chance& chance, const Side& model) {
  const std::string from = chance.one_in(20) ? chance.short_path(model, Wish::kNothing) + "/"
                                             : chance.short_path(model, Wish::kAnything);
  const std::string to = chance.short_path(
      model, chance.pick({Wish::kNothing, Wish::kFile, Wish::kFolder, Wish::kAnything}));
  return rename_with(chance, from, chance.one_in(20) ? to + "/" : to,
                     chance.one_in(4) ? RENAME_NOREPLACE : 0U);
}

Step exchange(Chance& chance, const Side& model) {
  return rename_with(chance, chance.short_path(model, Wish::kFile),
                     chance.short_path(model, chance.one_in(2) ? Wish::kFolder : Wish::kFile),
                     chance.one_in(12) ? RENAME_EXCHANGE | RENAME_NOREPLACE : RENAME_EXCHANGE);
}

Step link(Chance& chance, const Side& model) {
  const std::string from = chance.path(
      model, chance.pick({Wish::kFile, Wish::kFile, Wish::kLink, Wish::kSpecial, Wish::kAnything}));
  const std::string to = chance.path(model, Wish::kNothing);
  const int flags = chance.one_in(4) ? AT_SYMLINK_FOLLOW : 0;
  return {.text = call_text("linkat", shown(from), shown(to),
                            flags_text(flags, {{AT_SYMLINK_FOLLOW, "AT_SYMLINK_FOLLOW"}})),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                Outcome outcome =
                    outcome_of(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags));
                if (outcome.error == 0 && flags == 0 && node_at(from) != node_at(to)) {
                  return broken_rule("the link is not the file");
                }
                return outcome;
              },
          .paths = {from, to}};
}

// Gives an open file another name. The file may have lost its last name before.
Step link_handle(Chance& chance, const Side& model) {
  const size_t slot = chance.open_handle(model);
  const std::string to = chance.path(model, Wish::kNothing);
  return {.text = call_text("linkat", slot, shown(to), "AT_EMPTY_PATH"),
          .actor = chance.root(),
          .run =
              [=](Side& side) {
                return outcome_of(
                    ::linkat(side.handle(slot).fd, "", AT_FDCWD, to.c_str(), AT_EMPTY_PATH));
              },
          .paths = {to},
          .handles = {slot}};
}

Step make_symlink(Chance& chance, const Side& model) {
  const std::string target = chance.link_target();
  const std::string path = chance.path(model, Wish::kNothing);
  return {.text = call_text("symlink", shown(target), shown(path)),
          .actor = chance.actor(),
          .run = [=](Side&) { return outcome_of(::symlink(target.c_str(), path.c_str())); },
          .paths = {path}};
}

Step read_link(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kLink);
  const size_t size = chance.pick<size_t>({5000, 5000, 1, 3, 100});
  return {.text = call_text("readlink", shown(path), size),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                std::string target(size, '\0');
                const Outcome outcome = outcome_of(::readlink(path.c_str(), target.data(), size));
                if (outcome.error == 0) target.resize(static_cast<size_t>(outcome.value));
                return outcome.error == 0 ? outcome_of(outcome.value, target) : outcome;
              },
          .paths = {path}};
}

Step make_node(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kNothing);
  const mode_t type = chance.pick<mode_t>({S_IFREG, S_IFIFO, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK});
  const mode_t mode = chance.mode() & 0777;
  // /dev/null, or device numbers beyond the eight bits that each half once had. No such block
  // device exists.
  const dev_t device = type == S_IFCHR && chance.one_in(2) ? makedev(1, 3) : makedev(300, 70'000);
  return {.text = call_text("mknod", shown(path), octal(type | mode), std::to_string(device)),
          .actor = chance.actor(),
          .run = [=](Side&) { return outcome_of(::mknod(path.c_str(), type | mode, device)); },
          .paths = {path}};
}

}  // namespace

void add_name_calls(std::vector<CallKind>& kinds) {
  kinds.insert(kinds.end(), {{"folder", 60, make_folder},
                             {"folder", 25, remove_folder},
                             {"unlink", 30, remove_file},
                             {"rename", 40, rename},
                             {"exchange", 20, exchange},
                             {"link", 35, link},
                             {"link", 5, link_handle},
                             {"symlink", 25, make_symlink},
                             {"symlink", 20, read_link},
                             {"node", 20, make_node}});
}

}  // namespace gridmount::differential
