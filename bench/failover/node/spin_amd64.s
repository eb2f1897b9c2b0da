//go:build linux

#include "textflag.h"

// func spin(while *byte)
TEXT ·spin(SB), NOSPLIT, $0-8
	MOVQ while+0(FP), AX

again:
	CMPB (AX), $0
	JNE  again
	RET
