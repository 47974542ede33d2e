# mha_rules: the strict rule loader, and the embedded copy of rules/. YAML is parsed and checked at build time by
# mha_embed_rules, which is the same loader without an embedded copy; a bad rule fails the build.

file(GLOB_RECURSE mha_rules_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/lib/rules/*.cpp)
list(FILTER mha_rules_sources EXCLUDE REGEX "/lib/rules/embed/")
file(GLOB mha_rule_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/rules/*/*.yaml)

# The static library starts faster (no dynamic loading of it) and keeps the tool one file; shared is the fallback. The
# target's name changed with yaml-cpp 0.8.
set(mha_yaml_target yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(mha_yaml_target yaml-cpp::yaml-cpp)
endif()
find_library(MHA_YAML_CPP_STATIC NAMES libyaml-cpp.a)
mark_as_advanced(MHA_YAML_CPP_STATIC)
if(MHA_YAML_CPP_STATIC)
  set(mha_yaml_library ${MHA_YAML_CPP_STATIC})
else()
  set(mha_yaml_library ${mha_yaml_target})
endif()

add_library(mha_rules_objects OBJECT ${mha_rules_sources})
target_include_directories(mha_rules_objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/lib)
target_include_directories(mha_rules_objects SYSTEM
                           PRIVATE $<TARGET_PROPERTY:${mha_yaml_target},INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(mha_rules_objects PRIVATE mha_warnings mha_core)

add_executable(mha_embed_rules ${CMAKE_CURRENT_SOURCE_DIR}/lib/rules/embed/main.cpp)
target_include_directories(mha_embed_rules PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/lib)
target_link_libraries(mha_embed_rules PRIVATE mha_warnings mha_rules_objects mha_core ${mha_yaml_library})

set(mha_embedded_rules ${CMAKE_CURRENT_BINARY_DIR}/embedded_rules.cpp)
add_custom_command(
  OUTPUT ${mha_embedded_rules}
  COMMAND mha_embed_rules rules ${mha_embedded_rules}
  DEPENDS mha_embed_rules ${mha_rule_files}
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
  COMMENT "Checking and embedding rules/"
  VERBATIM)

add_library(mha_rules STATIC $<TARGET_OBJECTS:mha_rules_objects> ${mha_embedded_rules})
add_library(mha::rules ALIAS mha_rules)
set_target_properties(mha_rules PROPERTIES EXPORT_NAME rules)
target_include_directories(mha_rules PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/lib)
target_link_libraries(mha_rules PUBLIC mha_core PRIVATE $<BUILD_INTERFACE:mha_warnings>
                      $<BUILD_INTERFACE:${mha_yaml_library}> $<INSTALL_INTERFACE:yaml-cpp>)
