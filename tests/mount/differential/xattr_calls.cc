// Extended attributes: set, read, listed, removed, by path, by link and by handle.
#include <sys/xattr.h>

#include <set>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

constexpr size_t kXattrNameMax = 255;

// All values of a file together must fit in ext4's block for them, 4 KiB.
constexpr size_t kValueMax = 150;

std::string some_name(Chance& chance) {
  switch (chance.below(24)) {
    case 0:
      return "user.";
    case 1:
      return "unknown.a";
    case 2:
      return "";
    case 3:
      return "user." + std::string(kXattrNameMax - 5 + chance.below(2), 'n');
    case 4:
      return "user.\xc3\xbc.$x";
    default:
      return std::string(chance.pick<std::string_view>(
                 {"user.", "user.", "user.", "trusted.", "security."})) +
             std::string(chance.pick<std::string_view>({"a", "a", "longer.name"}));
  }
}

// A path, with or without following links, or a handle.
struct Place {
  enum class How { kPath, kLink, kHandle } how = How::kPath;
  std::string path;
  size_t slot = 0;
};

Place some_place(Chance& chance, const Side& model) {
  Place place;
  place.how = chance.pick({Place::How::kPath, Place::How::kLink, Place::How::kHandle});
  if (place.how == Place::How::kHandle) {
    place.slot = chance.open_handle(model);
  } else {
    place.path = chance.path(model, chance.one_in(3) ? Wish::kFolder : Wish::kFile);
  }
  return place;
}

template <typename... Words>
Step step_at(const Place& place, Actor actor, std::string_view name,
             std::function<Outcome(Side&)> run, const Words&... words) {
  Step step{.text = {}, .actor = actor, .run = std::move(run)};
  if (place.how == Place::How::kHandle) {
    step.text = call_text("f" + std::string(name), place.slot, words...);
    step.handles = {place.slot};
  } else {
    step.text = call_text((place.how == Place::How::kLink ? "l" : "") + std::string(name),
                          shown(place.path), words...);
    step.paths = {place.path};
  }
  return step;
}

Step set(Chance& chance, const Side& model) {
  const Place place = some_place(chance, model);
  const std::string name = some_name(chance);
  const std::string value = chance.bytes(chance.one_in(5) ? 0 : chance.below(kValueMax));
  const int flags = chance.pick<int>({0, 0, 0, XATTR_CREATE, XATTR_REPLACE});
  Step step = step_at(
      place, chance.actor(), "setxattr",
      [=](Side& side) {
        switch (place.how) {
          case Place::How::kPath:
            return outcome_of(
                ::setxattr(place.path.c_str(), name.c_str(), value.data(), value.size(), flags));
          case Place::How::kLink:
            return outcome_of(
                ::lsetxattr(place.path.c_str(), name.c_str(), value.data(), value.size(), flags));
          default:
            return outcome_of(::fsetxattr(side.handle(place.slot).fd, name.c_str(), value.data(),
                                          value.size(), flags));
        }
      },
      shown(name), value.size(),
      flags_text(flags, {{XATTR_CREATE, "XATTR_CREATE"}, {XATTR_REPLACE, "XATTR_REPLACE"}}));
  // For ext4, setting the value that is already there is not a change. Only an empty value can be
  // equal by chance.
  step.times_are_settled = !value.empty();
  return step;
}

Step get(Chance& chance, const Side& model) {
  const Place place = some_place(chance, model);
  const std::string name = some_name(chance);
  const size_t size = chance.pick<size_t>({0, 1, 50, 1000, 1000, 100'000});
  return step_at(
      place, chance.actor(), "getxattr",
      [=](Side& side) {
        std::string value(size, '\0');
        ssize_t got = 0;
        switch (place.how) {
          case Place::How::kPath:
            got = ::getxattr(place.path.c_str(), name.c_str(), value.data(), size);
            break;
          case Place::How::kLink:
            got = ::lgetxattr(place.path.c_str(), name.c_str(), value.data(), size);
            break;
          default:
            got = ::fgetxattr(side.handle(place.slot).fd, name.c_str(), value.data(), size);
        }
        if (got < 0) return outcome_of(got);
        value.resize(size == 0 ? 0 : static_cast<size_t>(got));
        return outcome_of(got, value);
      },
      shown(name), size);
}

Step list(Chance& chance, const Side& model) {
  const Place place = some_place(chance, model);
  const size_t size = chance.pick<size_t>({0, 10, 5000, 5000, 70'000});
  // For a user who is not root but has its capabilities, as only this program is, the file system
  // decides whether trusted attributes are listed.
  return step_at(
      place, chance.root(), "listxattr",
      [=](Side& side) {
        std::string names(size, '\0');
        ssize_t got = 0;
        switch (place.how) {
          case Place::How::kPath:
            got = ::listxattr(place.path.c_str(), names.data(), size);
            break;
          case Place::How::kLink:
            got = ::llistxattr(place.path.c_str(), names.data(), size);
            break;
          default:
            got = ::flistxattr(side.handle(place.slot).fd, names.data(), size);
        }
        if (got < 0 || size == 0) return outcome_of(got);
        // Their order depends on the file system.
        std::set<std::string> sorted;
        for (size_t at = 0; at < static_cast<size_t>(got);) {
          sorted.insert(names.c_str() + at);
          at = names.find('\0', at) + 1;
        }
        std::string seen;
        for (const std::string& name : sorted) seen += name + " ";
        return outcome_of(got, seen);
      },
      size);
}

Step remove(Chance& chance, const Side& model) {
  const Place place = some_place(chance, model);
  const std::string name = some_name(chance);
  return step_at(
      place, chance.actor(), "removexattr",
      [=](Side& side) {
        switch (place.how) {
          case Place::How::kPath:
            return outcome_of(::removexattr(place.path.c_str(), name.c_str()));
          case Place::How::kLink:
            return outcome_of(::lremovexattr(place.path.c_str(), name.c_str()));
          default:
            return outcome_of(::fremovexattr(side.handle(place.slot).fd, name.c_str()));
        }
      },
      shown(name));
}

}  // namespace

void add_xattr_calls(std::vector<CallKind>& kinds) {
  kinds.insert(
      kinds.end(),
      {{"xattr", 25, set}, {"xattr", 15, get}, {"xattr", 10, list}, {"xattr", 10, remove}});
}

}  // namespace gridmount::differential
