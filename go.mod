module ringleader.example/ringleader

go 1.26
