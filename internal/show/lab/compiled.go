//go:build labwasm && !js

package lab

import "embed"

// The engines, which .ci/release makes before it builds the program.
//
//go:embed wasm
var compiled embed.FS
