module ringleader.example/ringleader/tools/kubernetes

go 1.26.0
