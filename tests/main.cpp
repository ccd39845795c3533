// The entry point that every test program shares; Boost.Test finds the cases.
#define BOOST_TEST_MODULE tardygrad
#include <boost/test/unit_test.hpp>
