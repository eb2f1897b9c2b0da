// Package kubernetes checks the manifests of packaging/kubernetes: it makes them with kustomize, and reads them into the types of
// Kubernetes, which know every field. It is a module of its own because these are large.
package kubernetes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// made returns the objects that kubectl apply -k would create.
func made(t *testing.T) (all []runtime.Object) {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../packaging/kubernetes")); err != nil {
		t.Fatal(err)
	}
	certs := filepath.Join(folder, "certs") // of ringleader cert
	if err := os.MkdirAll(certs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ca.pem", "1.pem", "1.key", "2.pem", "2.key", "3.pem", "3.key"} {
		if err := os.WriteFile(filepath.Join(certs, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, policy.AddToScheme, rbac.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		all = append(all, o)
	}
	return all
}

// only returns the objects of one type, by name.
func only[T any, P interface {
	*T
	GetName() string
}](all []runtime.Object) map[string]P {
	found := map[string]P{}
	for _, o := range all {
		if o, is := any(o).(P); is {
			found[o.GetName()] = o
		}
	}
	return found
}

func TestTheManifestsFitTogether(t *testing.T) {
	all := made(t)
	sets := only[apps.StatefulSet](all)
	set := sets["ringleader"]
	if set == nil {
		t.Fatalf("there is no StatefulSet among %d objects", len(all))
	}
	pod := labels.Set(set.Spec.Template.Labels)
	leader := labels.Merge(pod, labels.Set{"ringleader.example/role": "leader"})
	selects := func(selector map[string]string, pod labels.Set) bool {
		return labels.SelectorFromSet(selector).Matches(pod)
	}
	services := only[core.Service](all)
	headless := services[set.Spec.ServiceName]
	if headless == nil || headless.Spec.ClusterIP != core.ClusterIPNone || !headless.Spec.PublishNotReadyAddresses || !selects(headless.Spec.Selector, pod) {
		t.Errorf("members do not find each other by %+v", headless)
	}
	if s := services["ringleader-leader"]; s == nil || selects(s.Spec.Selector, pod) || !selects(s.Spec.Selector, leader) {
		t.Errorf("the Service of the leader is %+v", s)
	}
	if !selects(set.Spec.Selector.MatchLabels, pod) || set.Spec.PodManagementPolicy != apps.ParallelPodManagement {
		t.Errorf("%+v", set.Spec)
	}
	if b := only[policy.PodDisruptionBudget](all)["ringleader"]; b == nil || b.Spec.MaxUnavailable.IntValue() != 1 || !selects(b.Spec.Selector.MatchLabels, pod) {
		t.Errorf("the budget is %+v", b)
	}
	names := strings.Join(only[rbac.Role](all)["ringleader-label"].Rules[0].ResourceNames, " ")
	ports, probes := map[string]bool{}, 0
	for _, c := range set.Spec.Template.Spec.Containers {
		for _, p := range c.Ports {
			ports[p.Name] = true
		}
		for _, p := range []*core.Probe{c.ReadinessProbe, c.LivenessProbe} {
			if p != nil && ports[p.HTTPGet.Port.StrVal] {
				probes++
			}
		}
		if c.Name == "label" && !slices.ContainsFunc(c.Env, func(v core.EnvVar) bool { return v.Name == "PODS" && v.Value == names }) {
			t.Errorf("%s may change %s only", c.Name, names)
		}
	}
	if probes != 2 {
		t.Errorf("%d probes ask a port that there is", probes)
	}
	secrets, configs := only[core.Secret](all), only[core.ConfigMap](all)
	for _, v := range set.Spec.Template.Spec.Volumes {
		if s := v.Secret; s != nil && secrets[s.SecretName] == nil {
			t.Errorf("there is no Secret %s", s.SecretName)
		}
		if c := v.ConfigMap; c != nil && configs[c.Name] == nil {
			t.Errorf("there is no ConfigMap %s", c.Name)
		}
	}
}

// The Job of the batch example has one index for each shard.
func TestTheJobHasAnIndexForEachShard(t *testing.T) {
	text, err := os.ReadFile("../../packaging/batch/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := batch.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	o, _, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	job := o.(*batch.Job).Spec
	args := strings.Join(job.Template.Spec.Containers[0].Args, " ")
	if *job.CompletionMode != batch.IndexedCompletion || !strings.Contains(args, fmt.Sprintf(" --shard $(JOB_COMPLETION_INDEX)/%d ", *job.Completions)) {
		t.Errorf("%d completions, %v, of %s", *job.Completions, *job.CompletionMode, args)
	}
	mount := job.Template.Spec.Containers[0].VolumeMounts[0]
	if !strings.Contains(args, "--out "+mount.MountPath+"/part-$(JOB_COMPLETION_INDEX)") || mount.Name != job.Template.Spec.Volumes[0].Name {
		t.Errorf("%s, with %+v", args, mount)
	}
}
