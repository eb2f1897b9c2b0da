//go:build linux

#include "textflag.h"

// func spin(while *byte)
TEXT ·spin(SB), NOSPLIT, $0-8
	MOVD while+0(FP), R0

again:
	MOVBU (R0), R1
	CBNZ  R1, again
	RET
