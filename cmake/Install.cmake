# What `cmake --install` puts into the system: the programs, their manual pages, a unit of systemd and
# the documents, by the names and at the places that the GNU coding standards give them.
include(GNUInstallDirs)

install(TARGETS gridmount gridfiles gridstore RUNTIME)

install(
  FILES packaging/gridmount.1 packaging/gridfiles.1 packaging/gridstore.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# systemd reads the units below /usr and below /usr/local.
set(GRIDMOUNT_UNIT_DIR lib/systemd/system CACHE STRING "Where units of systemd are installed")
file(READ packaging/gridmount@.service unit)
string(REPLACE "/usr/bin/gridmount" "${CMAKE_INSTALL_FULL_BINDIR}/gridmount" unit "${unit}")
string(REPLACE "Copy it to /etc/systemd/system, then: " "Then: " unit "${unit}")
file(CONFIGURE OUTPUT gridmount@.service CONTENT "${unit}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS packaging/gridmount@.service)
install(FILES ${PROJECT_BINARY_DIR}/gridmount@.service DESTINATION ${GRIDMOUNT_UNIT_DIR})

# What users read. They name each other by their paths in the tree, and keep those.
file(GLOB documents CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  README.md CHANGELOG.md SECURITY.md LICENSE NOTICE doc/*)
list(APPEND documents
  engine/LANGUAGE.md engine/local/FORMAT.md engine/wire/COMMANDS.md fuse/SEMANTICS.md gridfs/NAMESPACE.md)
foreach(document ${documents})
  get_filename_component(folder ${document} DIRECTORY)
  install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
