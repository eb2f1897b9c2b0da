package transport

import (
	"crypto/x509"
	"testing"
	"time"
)

func TestAChainExpiresWithItsFirstCertificateAndTheLongestChainCounts(t *testing.T) {
	until := func(moments ...int) (chain []*x509.Certificate) {
		for _, m := range moments {
			chain = append(chain, &x509.Certificate{NotAfter: time.Unix(int64(m), 0)})
		}
		return chain
	}
	for _, test := range []struct {
		chains [][]*x509.Certificate
		want   int64
	}{
		{[][]*x509.Certificate{until(3, 5)}, 3},
		{[][]*x509.Certificate{until(5, 3, 4)}, 3},
		{[][]*x509.Certificate{until(2, 5), until(9, 4), until(3, 7)}, 4},
	} {
		if got := lastExpiry(test.chains); got != time.Unix(test.want, 0) {
			t.Errorf("%v, not %d", got, test.want)
		}
	}
}
