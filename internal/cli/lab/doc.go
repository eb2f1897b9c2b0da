// Package lab answers the questions of the lab's page with the code of the commands, and has the command lab. It keeps nothing of a question
// for the next one. The page, its server and its worker in a browser are in internal/show/lab.
//
// The root imports it, and the worker of a browser, so that its program has neither processes nor connections. It imports the rooms run
// and study, whose runs and results it shows, besides plan and labour.
package lab
