module ringleader.example/ringleader/tools/plant

go 1.26.0

require golang.org/x/tools v0.51.0
