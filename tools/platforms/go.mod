module ringleader.example/ringleader/tools/platforms

go 1.26
