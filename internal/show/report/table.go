package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteRows writes a table whose first column and numbers are right-aligned, without the columns that are empty. If it is
// wider than width, it comes in several parts, each with the first two columns.
func WriteRows(w io.Writer, paint Paint, width int, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	const keys, between = 2, 2
	widths := make([]int, len(head))
	for _, row := range rows {
		for i, cell := range row {
			if cell != "" {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell), utf8.RuneCountInString(head[i]))
			}
		}
	}
	first := widths[0] + widths[1] + keys*between
	parts, used := [][]int{nil}, first
	for i := keys; i < len(head); i++ {
		if widths[i] == 0 {
			continue
		}
		last := len(parts) - 1
		if used+between+widths[i] > width && parts[last] != nil {
			parts, used = append(parts, nil), first
			last++
		}
		parts[last], used = append(parts[last], i), used+between+widths[i]
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		writeColumns(w, paint, widths, append([]int{0, 1}, part...), head, rows)
	}
}

// writeColumns writes some columns of a table.
func writeColumns(w io.Writer, paint Paint, widths, columns []int, head []string, rows [][]string) {
	write := func(row []string, attribute string) {
		var b strings.Builder
		for _, i := range columns {
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(row[i])))
			switch {
			case widths[i] == 0:
			case head[i] == "algorithm" || head[i] == "found":
				b.WriteString("  " + row[i] + pad)
			default:
				b.WriteString("  " + pad + row[i])
			}
		}
		fmt.Fprintln(w, paint.Text(attribute, strings.TrimRight(b.String(), " ")))
	}
	write(head, Faint)
	for _, row := range rows {
		write(row, "")
	}
}
