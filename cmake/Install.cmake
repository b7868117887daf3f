# The files that `cmake --install` installs: the programs, their manual pages, completions for
# shells, units of systemd, files for monitoring, and the documents. Their folders follow the GNU
# coding standards.
include(GNUInstallDirs)

install(TARGETS gridmount gridfiles gridstore RUNTIME)

install(
  FILES packaging/gridmount.1 packaging/gridfiles.1 packaging/gridstore.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES packaging/gridmount-store.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES packaging/gridmount-namespace.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)

# bash and fish look for a completion by the name of the program. zsh finds the completions of all
# three programs in one file.
foreach(program gridmount gridfiles gridstore)
  install(FILES packaging/completions/gridmount.bash RENAME ${program}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES packaging/completions/gridmount.fish RENAME ${program}.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endforeach()
install(FILES packaging/completions/gridmount.zsh RENAME _gridmount
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# systemd reads units below /usr and below /usr/local. The units have the paths of the programs,
# which depend on the prefix. `cmake --install --prefix` may change the prefix, so
# InstallUnits.cmake makes the units during the installation.
set(GRIDMOUNT_UNIT_DIR lib/systemd/system CACHE STRING "Where units of systemd are installed")
install(CODE "
  set(sources \"${PROJECT_SOURCE_DIR}/packaging\")
  set(made \"${PROJECT_BINARY_DIR}/units\")
  set(programs \"${CMAKE_INSTALL_BINDIR}\")
  set(units \"${GRIDMOUNT_UNIT_DIR}\")")
install(SCRIPT cmake/InstallUnits.cmake)

# For Prometheus and Grafana. Their administrators configure the paths of these files.
install(FILES packaging/monitoring/gridmount-alerts.yml packaging/monitoring/gridmount-dashboard.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/gridmount/monitoring)

# The documents for users. They link to each other by their paths in the tree, so they keep these
# paths.
file(GLOB documents CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  README.md CHANGELOG.md SECURITY.md LICENSE NOTICE doc/*)
list(APPEND documents
  engine/LANGUAGE.md engine/local/FORMAT.md engine/wire/COMMANDS.md fuse/SEMANTICS.md gridfs/NAMESPACE.md)
foreach(document ${documents})
  get_filename_component(folder ${document} DIRECTORY)
  install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
