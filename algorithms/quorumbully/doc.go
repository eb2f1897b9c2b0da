// Package quorumbully elects.
package quorumbully
