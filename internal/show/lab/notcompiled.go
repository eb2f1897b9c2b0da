//go:build !labwasm && !js

package lab

import "embed"

// compiled is empty: this program is not a release.
var compiled embed.FS
