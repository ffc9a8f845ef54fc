package main // go run verify.go KEY GENESIS "GET $URL" [NONCE] < BODY

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"
)

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// The members of a receipt, in their order; `agreed` and `previous` of version 2 only.
const form = `^{"v":([12]),"kid":"([0-9a-f]{16})","cluster":"(\w{32,44})","request":"([ !#-[\]-z|}~]+)","status":(\d{3}),` +
	`"slot":(\d{1,16}),"commitment":"(processed|confirmed|finalized)","claim":"((?:exact|observed)/[1-9]\d{0,8})"` +
	`(?:,"agreed":"([1-9]\d?/[1-9]\d?)")?,"digest":"([0-9a-f]{64})","issuedAt":(\d{1,16}),"nonce":(null|"[\w-]{16,64}")` +
	`(?:,"previous":(null|"[0-9a-f]{64}"))?,"size":(\d{1,5}),"index":(0|[1-9]\d{0,4}),"path":\[((?:"[0-9a-f]{64}"(?:,"[0-9a-f]{64}")*)?)\],"sig":"([0-9a-f]{128})"}$`

func must(holds bool, fault string) {
	if !holds {
		fmt.Fprintln(os.Stderr, "refused: "+fault)
		os.Exit(1)
	}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

func main() {
	key, cluster, nonce := os.Args[1], os.Args[2], append(os.Args, "null")[4]
	request := regexp.MustCompile(`^GET .*?/api/v1`).ReplaceAllString(os.Args[3], "GET /api/v1")
	bytes, _ := io.ReadAll(os.Stdin)
	body := string(bytes)
	start := strings.LastIndex(body, "{") // a receipt holds no other
	must(start >= 0 && strings.HasSuffix(body, "}"), "envelope")
	fields := regexp.MustCompile(form).FindStringSubmatch(body[start : len(body)-1])
	must(fields != nil && (fields[1] == "2") == (fields[9] != "") && (fields[1] == "2") == (fields[13] != ""), "malformed")
	var gave, read, index, last int // operators that gave this result, of those that were read
	fmt.Sscanf(fields[9]+" 1/1", "%d/%d", &gave, &read)
	index, _ = strconv.Atoi(fields[15])
	last, _ = strconv.Atoi(fields[14])
	must(gave <= read && index < last, "malformed")
	after := `,"slot":` + fields[6] + `,"receipt":`
	must(strings.HasPrefix(body, `{"result":`) && strings.HasSuffix(body[:start], after), "envelope")
	result := body[len(`{"result":`) : start-len(after)]
	must(fmt.Sprintf("%x", hash(result)) == fields[10], "digest")
	fields[12] = strings.Trim(fields[12], `"`)
	must(fields[5] == "200" && fields[3] == cluster && fields[4] == request && fields[12] == nonce, "not what was requested")
	statement := "proof-of-serve/v" + fields[1] + "\n" + key + "\n"
	for _, field := range fields[3:14] {
		if field = strings.Trim(field, `"`); field == "null" {
			field = "-"
		}
		if field != "" {
			statement += field + "\n"
		}
	}
	node := hash("\x00" + statement)
	last--
	for _, sibling := range regexp.MustCompile(`\w+`).FindAllString(fields[16], -1) { // RFC 9162, 2.1.3.2
		must(last > 0, "path")
		other, _ := hex.DecodeString(sibling)
		isLeft, pair := index%2 == 1 || index == last, node+string(other)
		if isLeft {
			pair = string(other) + node
		}
		node = hash("\x01" + pair)
		for isLeft && index%2 == 0 && index > 0 {
			index, last = index/2, last/2
		}
		index, last = index/2, last/2
	}
	must(last == 0, "path")
	number := new(big.Int)
	for _, digit := range key {
		number.Add(number.Mul(number, big.NewInt(58)), big.NewInt(int64(strings.IndexRune(base58, digit))))
	}
	raw := number.FillBytes(make([]byte, 32))
	must(fmt.Sprintf("%x", hash(string(raw))[:8]) == fields[2], "unknown-key")
	must(raw[31]&127 != 0 || strings.Trim(string(raw[1:31]), "\x00") != "" || raw[0] > 1, "weak-key") // deniable signatures
	signature, _ := hex.DecodeString(fields[17])
	head := fmt.Sprintf("proof-of-serve/v1 tree\n%s\n%x\n", fields[14], node)
	must(ed25519.Verify(raw, []byte(head), signature), "signature")
	fmt.Println(result)
}
