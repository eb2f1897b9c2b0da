module ringleader.example/ringleader/adapters/http

go 1.26.0

replace ringleader.example/ringleader => ../..

require ringleader.example/ringleader v0.0.0
