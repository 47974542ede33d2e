cmake_minimum_required(VERSION 3.25)

# Runs a doctest binary without a filter and wants at least LEAST passed cases.
execute_process(COMMAND ${PROGRAM} --no-colors OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${output}\n${PROGRAM} returned ${result}")
endif()
if(NOT output MATCHES "test cases: +[0-9]+ +\\| +([0-9]+) passed")
  message(FATAL_ERROR "no summary in:\n${output}")
endif()
if(CMAKE_MATCH_1 LESS LEAST)
  message(FATAL_ERROR "${CMAKE_MATCH_1} test cases ran, ${LEAST} is the least")
endif()
