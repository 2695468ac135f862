"""bursar inside other tools: each file needs the tool that it is named after, and is imported when you name it."""
