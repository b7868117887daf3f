// A snapshot of a whole tree: names, attributes, contents, link targets, extended attributes, and
// which names are links to one file. It is compared with another one, or printed for a later
// comparison.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

namespace gridmount::differential {

struct Branch {
  struct stat attributes {};
  std::string content;  // a target, or a digest of a file's bytes
  std::map<std::string, std::string> xattrs;
};

struct Tree {
  std::map<std::string, Branch> branches;  // by path; "." is the root
  std::vector<std::string> faults;         // what cannot be in any tree, found while reading it
};

Tree read_tree(const std::string& root);

// One line for each difference and for each fault.
std::vector<std::string> differences(const Tree& mount, const Tree& plain);

// One line for each name, all of it comparable as text.
std::string description(const Tree& tree);

}  // namespace gridmount::differential
