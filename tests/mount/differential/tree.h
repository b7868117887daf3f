// A snapshot of a whole tree: names, attributes, contents, link targets, extended attributes, and
// which names are links to one file. A tree is compared with another one, or printed for a later
// comparison.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

namespace gridmount::differential {

struct Branch {
  struct stat attributes {};
  std::string content;  // a link's target, or a digest of a file's bytes
  std::map<std::string, std::string> xattrs;
};

struct Tree {
  std::map<std::string, Branch> branches;  // by path; "." is the root
  std::vector<std::string> faults;         // impossible states found while reading the tree
};

Tree read_tree(const std::string& root);

// Returns one line for each difference and each fault.
std::vector<std::string> differences(const Tree& mount, const Tree& plain);

// Returns one line for each fault and each name, so that trees can be compared as text. Leaves out
// times that are "now" (attributes.h) and the link counts of directories.
std::string description(const Tree& tree);

}  // namespace gridmount::differential
