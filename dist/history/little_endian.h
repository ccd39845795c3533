#pragma once
#include "framework/io/little_endian.h"
