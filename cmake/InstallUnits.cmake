# `cmake --install` runs this script. It copies the units of systemd from the folder `sources` to
# `made`, inserts the path of the folder `programs`, and installs the units into the folder `units`.
# `programs` and `units` are relative to the prefix, or absolute.
get_filename_component(programs "${programs}" ABSOLUTE BASE_DIR "${CMAKE_INSTALL_PREFIX}")
get_filename_component(units "${units}" ABSOLUTE BASE_DIR "${CMAKE_INSTALL_PREFIX}")
foreach(name gridmount@.service gridstore@.service)
  file(READ "${sources}/${name}" unit)
  string(REPLACE "=/usr/bin/" "=${programs}/" unit "${unit}")
  string(REPLACE "Copy it to /etc/systemd/system, then: " "Then: " unit "${unit}")
  file(WRITE "${made}/${name}" "${unit}")
  file(INSTALL "${made}/${name}" DESTINATION "${units}" TYPE FILE)
endforeach()
