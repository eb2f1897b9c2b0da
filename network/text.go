package network

// MessageText returns a message in words: its kind and its contents in angle brackets, as in ⟨probe ID 5, TTL 0⟩. The brackets
// separate it from the sentence: "sends ⟨no ID 5⟩ to 3".
func MessageText(kind, contents string) string {
	if contents == "" {
		return "⟨" + kind + "⟩"
	}
	return "⟨" + kind + " " + contents + "⟩"
}
