// Package secret keeps the token that the commands, workers and servers of one user share, and derives keys from it.
package secret

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"
)

// ownPrefix is what the tokens that Own makes begin with. A client with such a token signs what the server asks it to sign, and does
// not send the token: a process that listens in the server's place learns nothing.
const ownPrefix = "ringleader-token-"

// ownSize is the number of random bytes of such a token.
const ownSize = 32

// ErrExposed reports that a file with a token may be known to other users, or made by one.
var ErrExposed = errors.New("the token in it is not believed")

// Path returns the file with the token of this user, in the directory of the user's caches. The file need not exist.
func Path() (string, error) {
	caches, err := os.UserCacheDir()
	return filepath.Join(caches, "ringleader", "nats-token"), err
}

// Own returns the token in a file of this user. It makes the file if there is none. The error is ErrExposed if the file belongs to another
// user, or if others may read or write it.
func Own(path string) (string, error) {
	token, err := readOwn(path)
	if !errors.Is(err, os.ErrNotExist) {
		return token, err
	}
	if err := makeOwn(path); err != nil && !errors.Is(err, os.ErrExist) { // another process may have made it meanwhile
		return "", err
	}
	return readOwn(path)
}

func readOwn(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat() // of the file that is open, whatever the path is now
	if err != nil {
		return "", err
	}
	if err := private(info); err != nil {
		return "", fmt.Errorf("%s: %w: %w", path, ErrExposed, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	token := strings.TrimSpace(string(text))
	if _, _, wrong := Key(token); err == nil && wrong != nil {
		err = fmt.Errorf("%s holds no token of ringleader", path)
	}
	return token, err
}

// makeOwn makes a file with a token, if there is none. The file has its contents before it has its name.
func makeOwn(path string) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	random := make([]byte, ownSize)
	rand.Read(random)                                    // never fails
	f, err := os.CreateTemp(folder, filepath.Base(path)) // O_EXCL, and mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(ownPrefix + base64.RawURLEncoding.EncodeToString(random) + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path) // which replaces no file
}

// IsOwn reports whether a token is one that Own made.
func IsOwn(token string) bool { return strings.HasPrefix(token, ownPrefix) }

// Key returns the key pair of a client with a token that Own made, and its public name.
func Key(token string) (pair nkeys.KeyPair, name string, err error) {
	random, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, ownPrefix))
	if !IsOwn(token) || err != nil || len(random) != ownSize {
		return nil, "", errors.New("a token that begins with " + ownPrefix + " is one that ringleader has made, and this is none")
	}
	if pair, err = nkeys.FromRawSeed(nkeys.PrefixByteUser, Derive(token, "connection")); err == nil {
		name, err = pair.PublicKey()
	}
	return pair, name, err
}

// Derive returns a key of 32 bytes for one purpose. Any token will do.
func Derive(token, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "ringleader cluster: "+purpose, sha256.Size)
	if err != nil {
		panic(err) // only for keys that are far longer
	}
	return key
}
