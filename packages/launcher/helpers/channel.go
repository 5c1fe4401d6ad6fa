package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// launcherSocket is where the launcher of this Pod listens; a platform with other directories says so.
func launcherSocket() string {
	if path := os.Getenv("VIRTKIT_LAUNCHER_SOCKET"); path != "" {
		return path
	}
	return "/var/run/kubevirt/sockets/launcher-sock"
}

const (
	channelVersion = 1
	// mostAnswerBytes is more than any of the answers here takes.
	mostAnswerBytes = 1 << 20
)

// message is what both sides of the launcher's channel send, as far as one request needs it.
type message struct {
	Type     string `json:"type"`
	Versions []int  `json:"versions,omitempty"`
	Software string `json:"software,omitempty"`
	ID       int    `json:"id,omitempty"`
	Verb     string `json:"verb,omitempty"`
	Args     any    `json:"args,omitempty"`
	Timeout  int64  `json:"timeout,omitempty"`

	Success bool            `json:"success,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Message string          `json:"message,omitempty"`
}

// ask makes one request of the launcher and waits no longer than the timeout for its answer.
func ask(verb string, args any, timeout time.Duration) (json.RawMessage, error) {
	connection, err := net.DialTimeout("unix", launcherSocket(), timeout)
	if err != nil {
		return nil, fmt.Errorf("the launcher does not answer: %w", err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	hello := message{Type: "hello", Versions: []int{channelVersion}, Software: "virtkit-helpers"}
	if err := send(connection, hello); err != nil {
		return nil, err
	}
	request := message{Type: "request", ID: 1, Verb: verb, Args: args, Timeout: timeout.Milliseconds()}
	if err := send(connection, request); err != nil {
		return nil, err
	}
	for {
		received, err := receive(connection)
		if err != nil {
			return nil, fmt.Errorf("no answer of the launcher: %w", err)
		}
		switch {
		case received.Type == "fault":
			return nil, fmt.Errorf("the launcher refused the request: %s", received.Message)
		case received.Type == "answer" && received.ID == request.ID:
			if !received.Success {
				return nil, errors.New(received.Message)
			}
			return received.Result, nil
		}
	}
}

// A frame is the bytes after this word, the bytes of the JSON, the JSON, and what follows it.
func send(to io.Writer, sent message) error {
	text, err := json.Marshal(sent)
	if err != nil {
		return err
	}
	frame := make([]byte, 8, 8+len(text))
	binary.BigEndian.PutUint32(frame, uint32(4+len(text)))
	binary.BigEndian.PutUint32(frame[4:], uint32(len(text)))
	_, err = to.Write(append(frame, text...))
	return err
}

func receive(from io.Reader) (received message, err error) {
	var lengths [8]byte
	if _, err = io.ReadFull(from, lengths[:]); err != nil {
		return received, err
	}
	whole, text := binary.BigEndian.Uint32(lengths[:]), binary.BigEndian.Uint32(lengths[4:])
	if whole < 4 || whole > mostAnswerBytes || text > whole-4 {
		return received, fmt.Errorf("a frame claims %d bytes, %d of them JSON", whole, text)
	}
	body := make([]byte, whole-4)
	if _, err = io.ReadFull(from, body); err != nil {
		return received, err
	}
	return received, json.Unmarshal(body[:text], &received)
}
