//go:build !js

package loops

// browser reports whether the program is for a page.
const browser = false
